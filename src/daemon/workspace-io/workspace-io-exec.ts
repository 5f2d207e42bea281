/** One command in a workspace, from its start to the last byte of its output. */
import { randomUUID } from 'node:crypto';
import type { Session } from '#guest/sessions.ts';
import type { RunOptions, WorkspaceCommand, WorkspaceRun } from '#mcp/workspace-io.ts';
import { EXEC_KILL_GRACE_MS } from '#protocol/control.ts';
import { keepOutput } from './workspace-io-output.ts';

/** For the way there and back, on a machine that is busy. */
const MARGIN_MS = 10_000;

/** With streams, because a call with streams ends with its connection: nobody would ever hear of a command that ran on. */
export async function runInWorkspace(
  session: Session,
  command: WorkspaceCommand,
  { timeoutMs, maxOutputBytes, onOutput, signal }: RunOptions,
): Promise<WorkspaceRun> {
  const startedMs = performance.now();
  const { result, up, down } = session.open(
    'execStream',
    { ...command, execId: randomUUID(), hasStdin: false, timeoutMs },
    { signal, deadlineMs: timeoutMs + EXEC_KILL_GRACE_MS + MARGIN_MS },
  );
  up.stdin.end();
  const keep = (stream: AsyncIterable<Buffer>) => keepOutput(stream, { maxBytes: maxOutputBytes, onChunk: onOutput });
  const [{ exitCode, timedOut }, stdout, stderr] = await Promise.all([result, keep(down.stdout), keep(down.stderr)]);
  return {
    exitCode,
    stdout: stdout.text,
    stderr: stderr.text,
    stdoutTruncated: stdout.isTruncated,
    stderrTruncated: stderr.isTruncated,
    timedOut,
    elapsedMs: Math.round(performance.now() - startedMs),
  };
}
