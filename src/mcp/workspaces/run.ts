/** The end of a command, as tools tell it. */
import { EXEC_KILL_GRACE_MS } from '#protocol/control.ts';
import { count, described, flag, integer, text } from '#protocol/shape.ts';
import type { WorkspaceRun } from '../workspace-io.ts';

/** Of each stream; the guest promises to keep no more. */
export const MAX_OUTPUT_BYTES = 2 * 1024 * 1024;

export const exitCode = integer({ min: -0x8000_0000, max: 0x7fff_ffff });

export const runFields = {
  exit_code: described(exitCode, '0 is success. 128 + n: ended by signal n. -1: timed out, or could not be started.'),
  stdout: described(text, 'Cut where it ends with [TRUNCATED: N bytes total, showing first M bytes].'),
  stderr: described(text, 'Cut as stdout is. Says "exec failed: ..." for a command that could not be started.'),
  stdout_truncated: flag,
  stderr_truncated: flag,
  timed_out: flag,
  elapsed_ms: count,
};

export interface RunAnswer {
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdout_truncated: boolean;
  readonly stderr_truncated: boolean;
  readonly timed_out: boolean;
  readonly elapsed_ms: number;
}

export function toRunAnswer(run: WorkspaceRun): RunAnswer {
  return {
    exit_code: run.exitCode,
    stdout: run.stdout,
    stderr: run.stderr,
    stdout_truncated: run.stdoutTruncated,
    stderr_truncated: run.stderrTruncated,
    timed_out: run.timedOut,
    elapsed_ms: run.elapsedMs,
  };
}

/** An answer to a command that is over its time comes after the grace its processes get, and has a way to go. */
export function runDeadlineMs(timeoutSeconds: number): number {
  const marginMs = 15_000;
  return timeoutSeconds * 1000 + EXEC_KILL_GRACE_MS + marginMs;
}
