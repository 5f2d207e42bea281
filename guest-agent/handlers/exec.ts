/** exec: one command in the workspace. What goes wrong with the command is a result, not an error. */
import type { ControlHandler, ExecResult } from '#protocol/control.ts';
import type { Guest } from '../guest.ts';
import { monotonicMs } from '../monotonic.ts';
import { execMark, fitIntoAnswer } from '../output.ts';
import { type CommandEnd, runCommand } from '../run-command.ts';
import { checkNotStopping, startFailure, toCommand } from './command.ts';

export function execHandler(guest: Guest): ControlHandler<'exec'> {
  return async (params, { signal }) => {
    checkNotStopping(guest);
    const { timeoutMs } = params;
    const startedAt = monotonicMs();
    const end = await toCommand(guest, params)
      .then((command) => runCommand({ ...command, timeoutMs, signal }))
      .catch(toFailedStart);
    return toResult(end, { timeoutMs, elapsedMs: Math.round(monotonicMs() - startedAt) });
  };
}

function toFailedStart(error: unknown): CommandEnd {
  const nothing = { text: '', isTruncated: false, totalBytes: 0 };
  return { exitCode: -1, stoppedBy: undefined, stdout: nothing, stderr: { ...nothing, text: startFailure(error) } };
}

function toResult(end: CommandEnd, { timeoutMs, elapsedMs }: { timeoutMs: number; elapsedMs: number }): ExecResult {
  const { stdout, stderr } = fitIntoAnswer(end, execMark);
  const note = end.stoppedBy === 'timeout' ? `task timed out after ${timeoutMs / 1000}s` : 'cancelled';
  return {
    exitCode: end.stoppedBy === undefined ? end.exitCode : -1,
    stdout: stdout.text,
    stderr: end.stoppedBy === undefined ? stderr.text : appendLine(stderr.text, note),
    stdoutTruncated: stdout.isTruncated,
    stderrTruncated: stderr.isTruncated,
    timedOut: end.stoppedBy === 'timeout',
    elapsedMs,
  };
}

function appendLine(text: string, line: string): string {
  return text === '' || text.endsWith('\n') ? text + line : `${text}\n${line}`;
}
