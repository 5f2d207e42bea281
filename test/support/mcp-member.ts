/**
 * The program of an agent in a team: it runs in the workspace, has the client of the MCP project, and speaks over `team mcp` and nothing
 * else. Orders come in as lines of JSON, what each gave goes out as one. Bundled by `mcp-members.ts`, because a workspace has no packages.
 */
import { execFile } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

export interface MemberOrder {
  readonly id: number;
  /** A tool to call. */
  readonly tool?: { readonly name: string; readonly arguments: Record<string, unknown> };
  /** A shell command: the agent's own work on its files. */
  readonly command?: string;
  /** The id of an order that is taken back. */
  readonly cancel?: number;
}

const running = new Map<number, AbortController>();

async function carryOut(client: Client, { id, tool, command, cancel }: MemberOrder): Promise<unknown> {
  if (command !== undefined) return run(command);
  if (cancel !== undefined) return running.get(cancel)?.abort('taken back') ?? {};
  if (tool === undefined) return client.listTools();
  const taken = new AbortController();
  running.set(id, taken);
  try {
    return await client.callTool(tool, undefined, { timeout: 150_000, signal: taken.signal });
  } finally {
    running.delete(id);
  }
}

function run(command: string): Promise<object> {
  return new Promise((resolve) => {
    execFile('sh', ['-c', command], (error, stdout, stderr) => resolve({ code: error ? (error.code ?? 1) : 0, stdout, stderr }));
  });
}

async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const client = new Client({ name: 'member', version: '1' });
  await client.connect(new StdioClientTransport({ command: 'team', args: ['mcp'], env: env as Record<string, string> }));
  const say = (answer: object) => void process.stdout.write(`${JSON.stringify(answer)}\n`);
  say({ id: 0, result: {} });
  for await (const line of createInterface({ input: process.stdin })) {
    const order = JSON.parse(line) as MemberOrder;
    carryOut(client, order).then(
      (result) => say({ id: order.id, result }),
      (error: unknown) => say({ id: order.id, error: String(error) }),
    );
  }
  await client.close();
}

main(process.env).catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
