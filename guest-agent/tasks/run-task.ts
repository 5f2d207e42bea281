/** Runs one attempt of a task in the workspace. What goes wrong with it is a result, not an error. */
import type { TaskResult } from '#protocol/control.ts';
import type { Guest } from '../guest.ts';
import { startFailure, toCommand } from '../handlers/command.ts';
import { monotonicMs } from '../monotonic.ts';
import { type CommandEnd, runCommand } from '../run-command.ts';
import type { Assigned } from '../state/attempts.ts';
import type { Artifacts, OutputName, TaskLogs } from './artifacts.ts';
import { fitResult } from './fit-result.ts';
import { TaskLines } from './task-lines.ts';

const SUPERSEDED = 'ended because a newer attempt of this task has come';

export interface TaskRun {
  readonly guest: Guest;
  readonly assigned: Assigned;
  readonly artifacts: Artifacts;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

export async function runTask(run: TaskRun): Promise<TaskResult> {
  const startedAt = monotonicMs();
  const logs = run.artifacts.open(run.assigned.assignment);
  const end = await runLogged(run, logs).catch(toFailedStart);
  const result = toResult(run.assigned, end, Math.round(monotonicMs() - startedAt));
  await logs.end(truncatedOutputs(result));
  return result;
}

/** Started by a process that is gone: nobody knows how far it came. */
export function toLostResult(assigned: Assigned): TaskResult {
  return { ...emptyResult(assigned), isLost: true };
}

/** Never started, and never to be. */
export function toSupersededResult(assigned: Assigned): TaskResult {
  return { ...emptyResult(assigned), stderr: SUPERSEDED };
}

async function runLogged({ guest, assigned, signal }: TaskRun, logs: TaskLogs): Promise<CommandEnd> {
  const { workdir, timeoutMs, taskName, ...fields } = assigned.assignment;
  const command = await toCommand(guest, { ...fields, ...(workdir !== undefined && { cwd: workdir }) });
  const lines = { stdout: new TaskLines(guest.log, `task/${taskName}`), stderr: new TaskLines(guest.log, `task/${taskName}`) };
  const onOutput = (output: OutputName, chunk: Buffer) => {
    logs.write(output, chunk);
    lines[output].write(chunk);
  };
  try {
    return await runCommand({ ...command, timeoutMs, signal, onOutput });
  } finally {
    lines.stdout.end();
    lines.stderr.end();
  }
}

function toFailedStart(error: unknown): CommandEnd {
  const nothing = { text: '', isTruncated: false, totalBytes: 0 };
  return { exitCode: -1, stoppedBy: undefined, stdout: nothing, stderr: { ...nothing, text: startFailure(error) } };
}

function toResult(assigned: Assigned, end: CommandEnd, elapsedMs: number): TaskResult {
  const result = fitResult({ ...emptyResult(assigned), exitCode: end.exitCode, elapsedMs }, end);
  switch (end.stoppedBy) {
    case undefined:
      return result;
    case 'timeout': {
      const note = `task timed out after ${assigned.assignment.timeoutMs / 1000}s`;
      return { ...result, exitCode: -1, stderr: appendLine(result.stderr, note), timedOut: true };
    }
    case 'cancel':
      return { ...result, exitCode: -1, stderr: appendLine(result.stderr, SUPERSEDED) };
  }
}

function emptyResult({ assignment: { taskUid, taskName, attempt, fencingToken }, messageId }: Assigned): TaskResult {
  return {
    taskUid,
    taskName,
    attempt,
    fencingToken,
    isLost: false,
    exitCode: -1,
    stdout: '',
    stderr: '',
    stdoutTruncated: false,
    stderrTruncated: false,
    timedOut: false,
    elapsedMs: 0,
    sourceMessageId: messageId,
  };
}

function truncatedOutputs({ stdoutTruncated, stderrTruncated }: TaskResult): readonly OutputName[] {
  const outputs: OutputName[] = [];
  if (stdoutTruncated) outputs.push('stdout');
  if (stderrTruncated) outputs.push('stderr');
  return outputs;
}

function appendLine(text: string, line: string): string {
  return text === '' || text.endsWith('\n') ? text + line : `${text}\n${line}`;
}
