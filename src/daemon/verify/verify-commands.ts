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
    const late = `timed out: the commands of verify have ${plan.timeoutMs / 1_000} s together`;
    ran.push(await runCommand(guest, command, { ...plan, timeoutMs: leftMs, late }, signal));
    if (ran.at(-1)?.exitCode !== 0) break;
  }
  return ran;
}

interface CommandPlan extends Omit<VerifyCommands, 'commands'> {
  /** What is said of one that took longer than that. */
  readonly late: string;
}

/** With the end of what it printed. Rejects only when it was cut short. */
export async function runCommand(guest: Guest, command: string, plan: CommandPlan, signal: AbortSignal): Promise<Ran> {
  const { workdir, env, timeoutMs, late } = plan;
  const params = { execId: randomUUID(), command, cwd: workdir, env, hasStdin: false, timeoutMs };
  const { result, down } = guest.open('execStream', params, { signal });
  const output = new OutputTail(KEPT_BYTES);
  const read = Promise.all([output.read(down.stdout), output.read(down.stderr)]);
  const { exitCode, note } = await ended(result, late, signal);
  await read;
  if (note !== undefined) output.add(Buffer.from(`\n${note}`));
  return { command, exitCode, output: output.text };
}

/** A command that takes its workspace down with it, or all of the workspace's memory, has failed like any other. */
async function ended(
  result: Promise<{ readonly exitCode: number; readonly timedOut: boolean }>,
  late: string,
  signal: AbortSignal,
): Promise<{ readonly exitCode: number; readonly note?: string }> {
  try {
    const { exitCode, timedOut } = await result;
    return timedOut ? { exitCode, note: late } : { exitCode };
  } catch (error) {
    signal.throwIfAborted();
    return { exitCode: -1, note: `its workspace ended while it ran: ${messageOf(error)}` };
  }
}
