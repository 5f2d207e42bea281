/** Runs one attempt of a task in the workspace: its command, or the runner of its prompt. What goes wrong with it is a result, not an error. */
import { MAX_RESULT_TEXT_BYTES, type TaskResult } from '#protocol/control.ts';
import type { PromptOutcome } from '#protocol/prompt.ts';
import type { Freezer } from '../freezer.ts';
import type { Guest } from '../guest.ts';
import { startFailure, toCommand } from '../handlers/command.ts';
import { monotonicMs } from '../monotonic.ts';
import { Output } from '../output.ts';
import type { PromptCommand } from '../prompt/prompt-command.ts';
import { ToldGroups } from '../prompt/told-groups.ts';
import type { UnreadMessage } from '../prompt/unread.ts';
import type { CommandEnd } from '../run-command.ts';
import { type CommandStart, startCommand } from '../started-command.ts';
import type { Assigned } from '../state/attempts.ts';
import type { Artifacts, StreamName, TaskLogs } from './artifacts.ts';
import { fitResult } from './fit-result.ts';
import { headCommit } from './head-commit.ts';
import { endStrays } from './strays.ts';
import { TaskLines } from './task-lines.ts';

const SUPERSEDED = 'ended because a newer attempt of this task has come';

export interface TaskRun {
  readonly guest: Guest;
  readonly assigned: Assigned;
  readonly artifacts: Artifacts;
  /** Mail that the agent has not seen, for the beginning of a prompt. */
  readonly unseen: () => readonly UnreadMessage[];
  readonly freezer?: Freezer;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

export async function runTask(run: TaskRun): Promise<TaskResult> {
  const startedAt = monotonicMs();
  const { assignment } = run.assigned;
  const logs = run.artifacts.open(assignment);
  const prompt = await preparePrompt(run).catch(toFailedStart);
  const isPrompt = prompt !== undefined && 'argv' in prompt;
  const end = prompt === undefined || isPrompt ? await runLogged(run, logs, prompt).catch(toFailedStart) : prompt;
  const outcome = isPrompt ? prompt.takeOutcome() : undefined;
  const result = withOutcome(toResult(run.assigned, end, Math.round(monotonicMs() - startedAt)), outcome);
  const streams = await logs.end(largeOutputs(result, end));
  const transcript = assignment.prompt === undefined ? undefined : await run.artifacts.keepTranscript(assignment);
  const artifacts = [...streams, ...(transcript ? [transcript] : [])];
  const commit = await headCommit(run.guest, run.signal);
  return { ...result, ...(commit !== undefined && { commit }), ...(artifacts.length > 0 && { artifacts }) };
}

/** Undefined: it has a command. */
async function preparePrompt({ guest, assigned: { assignment }, artifacts, unseen }: TaskRun): Promise<PromptCommand | undefined> {
  if (assignment.prompt === undefined) return undefined;
  // Few guests ever run one.
  const { promptCommand } = await import('../prompt/prompt-command.ts');
  return promptCommand(assignment, assignment.prompt, { guest, artifacts, unseen: unseen() });
}

/** What an agent has said last is what came out of its task; all that happened is in the transcript. */
function withOutcome(result: TaskResult, outcome: PromptOutcome | undefined): TaskResult {
  if (outcome === undefined) return result;
  return { ...result, stdout: outcome.text, stdoutTruncated: false, outcome: { ...outcome, text: '' } };
}

/** Started by a process that is gone: nobody knows how far it came. */
export function toLostResult(assigned: Assigned): TaskResult {
  return { ...emptyResult(assigned), isLost: true };
}

/** Never started, and never to be. */
export function toSupersededResult(assigned: Assigned): TaskResult {
  return { ...emptyResult(assigned), stderr: SUPERSEDED };
}

async function runLogged(run: TaskRun, logs: TaskLogs, prompt: PromptCommand | undefined): Promise<CommandEnd> {
  const { guest, assigned, signal, freezer } = run;
  const { workdir, timeoutMs, taskName, env, command: line } = assigned.assignment;
  const what = prompt === undefined ? { command: line } : { argv: prompt.argv };
  const command = await toCommand(guest, { ...what, ...(env && { env }), ...(workdir !== undefined && { cwd: workdir }) });
  const lines = { stdout: new TaskLines(guest.log, `task/${taskName}`), stderr: new TaskLines(guest.log, `task/${taskName}`) };
  const onOutput = (output: StreamName, chunk: Buffer) => {
    lines[output].write(chunk);
    return logs.write(output, chunk);
  };
  try {
    const end = await runHeldBack({ ...command, timeoutMs, signal, freezer, hasReport: prompt !== undefined }, onOutput);
    if (end.stoppedBy !== undefined) await endStrays(command.env);
    return end;
  } finally {
    lines.stdout.end();
    lines.stderr.end();
  }
}

/** As runCommand; but a command that writes faster than the disk takes it waits, or its log would not be whole. */
async function runHeldBack(
  start: CommandStart,
  onOutput: (output: StreamName, chunk: Buffer) => Promise<void> | undefined,
): Promise<CommandEnd> {
  const command = await startCommand(start);
  const kept = { stdout: new Output(command.stdout), stderr: new Output(command.stderr) };
  const groups = new ToldGroups(start.groups, command.report);
  start.freezer?.include(() => groups.families);
  const held = new Set<StreamName>();
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = command[name];
    stream.on('data', (chunk: Buffer) => {
      const full = onOutput(name, chunk);
      if (full === undefined) return;
      held.add(name);
      stream.pause();
      void full.then(() => {
        held.delete(name);
        stream.resume();
      });
    });
  }
  const exit = await command.exited;
  await groups.end();
  await command.drained(() => held.size > 0);
  return { ...exit, stdout: kept.stdout.read(), stderr: kept.stderr.read() };
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

/** Those that the Task will not have whole. What is no text takes more room there than it has bytes. */
function largeOutputs(result: TaskResult, end: CommandEnd): readonly StreamName[] {
  const isLarge = { stdout: result.stdoutTruncated, stderr: result.stderrTruncated };
  return (['stdout', 'stderr'] as const).filter(
    (name) => isLarge[name] || Math.max(end[name].totalBytes, Buffer.byteLength(result[name])) > MAX_RESULT_TEXT_BYTES,
  );
}

function appendLine(text: string, line: string): string {
  return text === '' || text.endsWith('\n') ? text + line : `${text}\n${line}`;
}
