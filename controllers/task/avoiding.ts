/**
 * A Task that would touch files in which branches of its team do not fit: others go first, for whatever it does there has to be merged by hand.
 * It is never kept for ever: it starts when nothing else can, when the branches fit again, or when it has waited long enough. Pure.
 */
import type { Task } from '#api/types.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';
import type { Clash } from './clashes.ts';

type Moment = Pick<ReconcileContext, 'now' | 'events'>;

export const FILES_IN_CONFLICT = 'FilesInConflict';
const WAITED = 'WaitedLongEnough';
/** What runs may itself wait for this one, and nobody can know. */
export const MOST_PATIENCE_MS = 10 * 60_000;
/** Between two looks at whether it may start; changes on the board wake it sooner. */
export const AVOIDING_LOOK_MS = 30_000;
const MAX_NAMED = 5;

/** What it is kept from; nothing once it has waited long enough. */
export function filesToAvoid(task: Task): readonly string[] {
  return getCondition(task, FILES_IN_CONFLICT)?.reason === WAITED ? [] : (task.spec.files ?? []);
}

export function describeClash({ between, files }: Clash): string {
  const more = files.length - MAX_NAMED;
  const named = `${files.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `the branches of ${between.join(' and ')} do not fit in ${named}, which it would touch; what else can run goes first`;
}

export function markAvoided(task: WithStatus<Task>, message: string, moment: Moment): void {
  if (getCondition(task, FILES_IN_CONFLICT)?.status !== 'True') moment.events.normal(task, FILES_IN_CONFLICT, message);
  setCondition(task, { type: FILES_IN_CONFLICT, status: 'True', reason: 'BranchesConflict', message }, moment.now());
}

/** It waits for something else now; that it has waited long enough is remembered until it starts. */
export function clearAvoided(task: WithStatus<Task>): void {
  if (getCondition(task, FILES_IN_CONFLICT)?.status === 'True') forgetAvoided(task);
}

export function forgetAvoided({ status }: WithStatus<Task>): void {
  const { conditions } = status;
  if (conditions?.some(({ type }) => type === FILES_IN_CONFLICT)) {
    status.conditions = conditions.filter(({ type }) => type !== FILES_IN_CONFLICT);
  }
}

export function endPatience(task: WithStatus<Task>, moment: Moment): void {
  const mark = getCondition(task, FILES_IN_CONFLICT);
  if (mark?.status !== 'True' || moment.now().getTime() < Date.parse(mark.lastTransitionTime) + MOST_PATIENCE_MS) return;
  const message = `it has waited ${MOST_PATIENCE_MS / 60_000} minutes for branches that do not fit, and starts all the same`;
  setCondition(task, { type: FILES_IN_CONFLICT, status: 'False', reason: WAITED, message }, moment.now());
  moment.events.warning(task, WAITED, message);
}
