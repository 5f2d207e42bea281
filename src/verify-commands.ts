/** The `verify` commands of a Task, one after the other, until one fails. All of them together get the time of one attempt. */
import { randomUUID } from 'node:crypto';
import type { Verification } from '#controllers/task/verifier.ts';
import { messageOf } from '#lib/errors.ts';
import type { Guest } from './verify-fill.ts';
import { OutputTail } from './verify-output.ts';

export interface VerifyCommands {
  readonly commands: readonly string[];
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

type Ran = Verification['commands'][number];

const KEPT_BYTES = 4_096;

export async function runVerifyCommands(guest: Guest, plan: VerifyCommands, signal: AbortSignal): Promise<Ran[]> {
  const endsAtMs = performance.now() + plan.timeoutMs;
  const ran: Ran[] = [];
  for (const command of plan.commands) {
    const leftMs = Math.max(1, Math.round(endsAtMs - performance.now()));
    ran.push(await runOne(guest, command, { ...plan, leftMs }, signal));
    if (ran.at(-1)?.exitCode !== 0) break;
  }
  return ran;
}

async function runOne(
  guest: Guest,
  command: string,
  plan: VerifyCommands & { readonly leftMs: number },
  signal: AbortSignal,
): Promise<Ran> {
  const { workdir, env, leftMs, timeoutMs } = plan;
  const params = { execId: randomUUID(), command, cwd: workdir, env, hasStdin: false, timeoutMs: leftMs };
  const { result, down } = guest.open('execStream', params, { signal });
  const output = new OutputTail(KEPT_BYTES);
  const read = Promise.all([output.read(down.stdout), output.read(down.stderr)]);
  const { exitCode, note } = await ended(result, timeoutMs, signal);
  await read;
  if (note !== undefined) output.add(Buffer.from(`\n${note}`));
  return { command, exitCode, output: output.text };
}

/** A command that takes its workspace down with it, or all of the workspace's memory, has failed like any other. */
async function ended(
  result: Promise<{ readonly exitCode: number; readonly timedOut: boolean }>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ readonly exitCode: number; readonly note?: string }> {
  try {
    const { exitCode, timedOut } = await result;
    return timedOut ? { exitCode, note: `timed out: the commands of verify have ${timeoutMs / 1_000} s together` } : { exitCode };
  } catch (error) {
    signal.throwIfAborted();
    return { exitCode: -1, note: `its workspace ended while it ran: ${messageOf(error)}` };
  }
}
