/** Whether the tools of the team can be had: the very program that the agent is going to start is started once, and has to answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { McpServerEntry } from './acp-session.ts';
import { RunFailure } from './failure.ts';
import { within } from './within.ts';

const LIMIT_MS = 30_000;
const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'agentiso', version: '1' } },
};

/** Rejects with McpUnavailable. */
export async function checkMcp({ command, args, env }: McpServerEntry, path: string | undefined): Promise<void> {
  const child = spawn(command, [...args], {
    env: { ...(path !== undefined && { PATH: path }), ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  try {
    child.stdin.on('error', () => {});
    child.stdin.write(`${JSON.stringify(HELLO)}\n`);
    const failed = once(child, 'error').then(([error]) => Promise.reject(error));
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`it exited with ${code}`)));
    const [answer] = await within(Promise.race([once(child.stdout, 'data'), failed, ended]), LIMIT_MS, () => new Error('no answer'));
    if (!String(answer).includes('"serverInfo"')) throw new Error(`it answers ${String(answer).slice(0, 200)}`);
    ended.catch(() => {});
    failed.catch(() => {});
  } catch (error) {
    throw new RunFailure(
      'McpUnavailable',
      `${command} ${args.join(' ')}: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  } finally {
    child.kill('SIGKILL');
  }
}
