/** One start of the program, one answer: everything it writes is read when it has ended. */
import type { OneShotEnd, OneShotUse } from '#backends/backend.ts';
import type { AgentProcess } from './agent-process.ts';
import { RunFailure } from './failure.ts';
import type { Transcript } from './transcript.ts';
import { within } from './within.ts';

/** What is kept of it for its parser. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
const PIPE_GRACE_MS = 1_000;

export interface OneShotRun {
  readonly agent: AgentProcess;
  readonly stdin: string | undefined;
  readonly parseEnd: OneShotUse['parseEnd'];
  readonly transcript: Transcript;
  /** The first byte: it has taken the prompt. */
  readonly onFirst: () => void;
}

/** Rejects with BadOutput when what it says has no end that could be read. */
export async function runOneShot({ agent, stdin, parseEnd, transcript, onFirst }: OneShotRun): Promise<OneShotEnd> {
  const { child } = agent;
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    if (output === '') onFirst();
    if (output.length < MAX_OUTPUT_BYTES) output += chunk;
    transcript.words('agent', chunk);
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  child.stdin?.end(stdin ?? '');
  const how = await agent.exited;
  // What it has left behind may hold its pipes; that is ended with its group.
  await within(closed, PIPE_GRACE_MS, () => new Error('held')).catch(() => {});
  const end = parseEnd(output);
  if (end !== undefined) return end;
  const said = agent.lastComplaints;
  throw new RunFailure('BadOutput', `${how}, and what it wrote has no end${said === '' ? '' : `: ${said}`}`);
}
