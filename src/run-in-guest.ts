/** A Task's command, run by the guest agent of the workspace that holds it. */
import type { Agent, Task } from '#api/types.ts';
import type { Driver } from '#drivers/driver.ts';
import { connectGuest } from '#guest/client.ts';
import { headAndTail } from '#lib/text.ts';

/** Of each stream, in the Task: a status is something to read, and every version of it goes through the journal. */
const KEPT_BYTES = 64 * 1024;

export interface GuestRun {
  readonly driver: Driver;
  readonly agent: Agent;
  readonly task: Task;
  readonly signal: AbortSignal;
}

export async function runInGuest({ driver, agent, task, signal }: GuestRun) {
  const id = agent.metadata.uid;
  const stream = await driver.connect(id, signal);
  const guest = await connectGuest(stream, { id, incarnation: agent.status?.incarnation ?? '', signal });
  try {
    const { command, workdir, env = {}, timeoutSeconds } = task.spec;
    const result = await guest.call('exec', { command: command ?? '', cwd: workdir, env, timeoutMs: timeoutSeconds * 1_000 }, { signal });
    const stdout = headAndTail(result.stdout, KEPT_BYTES);
    const stderr = headAndTail(result.stderr, KEPT_BYTES);
    return {
      exitCode: result.exitCode,
      stdout: stdout.text,
      stderr: stderr.text,
      truncated: stdout.isCut || stderr.isCut || result.stdoutTruncated || result.stderrTruncated,
      elapsedSeconds: Math.round(result.elapsedMs) / 1_000,
    };
  } finally {
    guest.close('the command has ended');
  }
}
