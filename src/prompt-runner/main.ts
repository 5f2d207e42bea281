/** The program that stands for a prompt where a command would stand for a command: `node prompt-runner.cjs JOB`, a file with a job in it. */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { customAgentPath, parseCustomAgent } from '#backends/acp.ts';
import { allBackends } from '#backends/all-backends.ts';
import { TOOLS_INSIDE } from '#backends/tool-places.ts';
import { type PromptOutcome, runnerJob } from '#protocol/prompt.ts';
import { Run } from './run.ts';
import { teamSocket } from './team-socket.ts';

async function main(): Promise<number> {
  const job = runnerJob(JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')), 'job');
  const backend = allBackends.find(({ name }) => name === job.backend);
  if (backend === undefined) throw new Error(`there is no backend ${job.backend}`);
  const tools = process.env['AGENTISO_TOOLS'] ?? TOOLS_INSIDE;
  const configured = customAgentPath(tools);
  const custom = backend.name === 'acp' && existsSync(configured) ? parseCustomAgent(readFileSync(configured, 'utf8')) : undefined;
  const controller = new AbortController();
  // The first asks for the end; more of them cannot make it faster.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => controller.abort());
  const run = new Run({
    job,
    backend,
    tools,
    custom,
    ask: teamSocket(job.socket),
    env: process.env,
    signal: controller.signal,
    say: (text) => void process.stdout.write(text),
    complain: (chunk) => void process.stderr.write(chunk),
    now: () => new Date(),
  });
  const outcome = await run.run();
  writeOutcome(job.outcome, outcome);
  return outcome.error === undefined ? 0 : 1;
}

/** Whole or not there. */
function writeOutcome(path: string, outcome: PromptOutcome): void {
  writeFileSync(`${path}.new`, JSON.stringify(outcome), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    process.exit(2);
  },
);
