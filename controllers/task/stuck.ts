/** Running tasks that get nowhere, and those that may touch the same files: marks for people, and for the lead. Pure. */
import type { Task } from '#api/types.ts';
import { getCondition, isTrue, setCondition } from '#runtime/conditions.ts';
import type { WithStatus } from '#runtime/controller.ts';
import { clearMarks, type Moment } from './transitions.ts';

/** Where tasks take moments, twice a moment is nothing to worry about. */
export const STUCK_FLOOR_MS = 30_000;
/** After this long with the mark, a Task with stuckPolicy Reassign is taken away. */
export const STUCK_GRACE_MS = 60_000;

export interface StuckLook {
  readonly isGivenUp: boolean;
  /** When to look again; undefined: when something changes. */
  readonly inMs: number | undefined;
}

/** Over twice the team's average without a word of progress. */
export function markStuck(task: WithStatus<Task>, pace: { averageMs: number | undefined; floorMs: number }, moment: Moment): StuckLook {
  if (pace.averageMs === undefined) return { isGivenUp: false, inMs: undefined };
  const nowMs = moment.now().getTime();
  const { startedAt = '', progress, owner } = task.status;
  const lastMs = Math.max(Date.parse(startedAt), Date.parse(progress?.time ?? startedAt));
  const limitMs = Math.max(2 * pace.averageMs, pace.floorMs);
  if (nowMs < lastMs + limitMs) {
    clearMarks(task, ['Stuck'], { reason: 'Progress', message: `${owner} is getting on` }, moment);
    return { isGivenUp: false, inMs: lastMs + limitMs - nowMs };
  }
  if (!isTrue(task, 'Stuck')) {
    const message = `no progress for ${seconds(limitMs)}; tasks of this team take ${seconds(pace.averageMs)} on average`;
    setCondition(task, { type: 'Stuck', status: 'True', reason: 'NoProgress', message }, moment.now());
    moment.events.warning(task, 'Stuck', message);
  }
  if (task.spec.stuckPolicy !== 'Reassign') return { isGivenUp: false, inMs: undefined };
  const sinceMs = Date.parse(getCondition(task, 'Stuck')?.lastTransitionTime ?? '');
  const leftMs = sinceMs + STUCK_GRACE_MS - nowMs;
  return { isGivenUp: leftMs <= 0, inMs: Math.max(0, leftMs) };
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

export function markOverlap(task: WithStatus<Task>, others: readonly string[], moment: Moment): void {
  if (others.length === 0) {
    clearMarks(task, ['FileOverlap'], { reason: 'NoOverlap', message: '' }, moment);
    return;
  }
  const message = `may touch the same files as ${others.slice(0, MOST_NAMES).join(', ')}${others.length > MOST_NAMES ? ' and others' : ''}`;
  setCondition(task, { type: 'FileOverlap', status: 'True', reason: 'FilesOverlap', message }, moment.now());
}

const MOST_NAMES = 5;
