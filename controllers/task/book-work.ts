/** What the owner of a Task says about its work, and the notes of everybody. */
import type { Task } from '#api/types.ts';
import { AgentisoError, ConflictError } from '#lib/errors.ts';
import { headAndTail } from '#lib/text.ts';
import type { TaskBook, TaskReference } from '#relay/task-book.ts';
import type { WithStatus } from '#runtime/controller.ts';
import {
  agentOf,
  type BookDeps,
  changeTask,
  isOwnedBy,
  type Principal,
  refuseAssigned,
  refuseLong,
  refuseStranger,
  refuseUnplanned,
  shortOf,
  speakerName,
  type TaskWord,
  wordOf,
} from './book-desk.ts';
import { isFinished, isVerifying, needsPlan } from './card.ts';
import { conclude, countFailure, declareBlocked, type Moment, note, start } from './transitions.ts';

type Done = Parameters<TaskBook['complete']>[2];
type Change = Parameters<TaskBook['update']>[2];

/** As of a command's output: a status is something to read. */
const KEPT_BYTES = 64 * 1024;
const WORDS_BYTES = 16 * 1024;

export async function completeByHand(deps: BookDeps, principal: Principal, reference: TaskReference, done: Done): Promise<TaskWord> {
  agentOf(principal, 'complete');
  return changeTask(deps, principal, reference, (task, moment) => {
    if (isRepeated(task, principal, done)) return wordOf(task);
    if (isFinished(task) && isOwnedBy(task, principal)) throw new ConflictError(`task ${shortOf(task)} is over: ${task.status.reason}`);
    refuseStranger(task, principal);
    refuseOldAttempt(task, done.attempt);
    refuseAssigned(task);
    if (needsPlan(task)) throw refuseUnplanned(task);
    const { text, isCut } = headAndTail(done.result ?? '', KEPT_BYTES);
    const sinceMs = Date.parse(task.status.startedAt ?? task.status.lease?.renewTime ?? '');
    const elapsedSeconds = Math.max(0, moment.now().getTime() - sinceMs) / 1_000;
    task.status.startedAt ??= task.status.lease?.renewTime ?? moment.now().toISOString();
    const names = [...new Set(done.artifacts ?? [])];
    task.status.result = {
      exitCode: 0,
      stdout: text,
      stderr: '',
      truncated: isCut,
      elapsedSeconds,
      ...(names.length > 0 && { artifacts: names.map((name) => ({ name })) }),
    };
    conclude(task, `was completed by ${task.status.owner} after ${elapsedSeconds} s`, moment);
    return wordOf(task);
  });
}

/** The answer to the first time was lost: saying it again changes nothing. */
function isRepeated(task: Task, principal: Principal, { attempt }: Done): boolean {
  if (!isOwnedBy(task, principal) || (task.status?.phase !== 'Succeeded' && !isVerifying(task))) return false;
  return attempt === undefined || attempt === task.status?.attempt;
}

function refuseOldAttempt(task: Task, attempt: number | undefined): void {
  if (attempt === undefined || attempt === task.status?.attempt) return;
  throw new AgentisoError('FenceLost', `attempt ${attempt} of task ${shortOf(task)} is over; the present one is ${task.status?.attempt}`);
}

export async function updateByHand(deps: BookDeps, principal: Principal, reference: TaskReference, change: Change): Promise<TaskWord> {
  for (const field of ['note', 'progress', 'reason'] as const) refuseLong(field, change[field], WORDS_BYTES);
  if (change.status !== undefined && change.status !== 'in_progress' && !change.reason?.trim()) {
    throw new AgentisoError('Invalid', `reason: Required value: say why the task is ${change.status}`);
  }
  if (change.status !== undefined || change.progress !== undefined) agentOf(principal, 'work on');
  return changeTask(deps, principal, reference, (task, moment) => {
    if (change.status !== undefined || change.progress !== undefined) refuseStranger(task, principal);
    if (change.note !== undefined) note(task, { author: speakerName(principal), text: change.note }, moment);
    if (change.progress !== undefined) task.status.progress = { text: change.progress, time: moment.now().toISOString() };
    if (change.status !== undefined) setStatus(task, change, moment);
    return wordOf(task);
  });
}

function setStatus(task: WithStatus<Task>, { status, reason = '' }: Change, moment: Moment): void {
  // A command that runs says so over again; nothing else about it can be said by hand.
  if (status === 'in_progress' && task.status.phase === 'Running') return;
  refuseAssigned(task);
  if (isVerifying(task)) throw new ConflictError(`task ${shortOf(task)} is being verified`);
  if (needsPlan(task) && status === 'in_progress') throw refuseUnplanned(task);
  if (status === 'in_progress') start(task, moment);
  else if (status === 'blocked') declareBlocked(task, reason, moment);
  else countFailure(task, 'AttemptFailed', `was given up by ${task.status.owner}: ${reason}`, moment);
}
