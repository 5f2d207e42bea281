/** A Task that has ended: it stays with its team, or goes when its time is over. */
import { controllerOf, keyOf } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import { isTrue } from '#runtime/conditions.ts';
import type { Result } from '#runtime/controller.ts';
import { type Attending, LOOK_MS } from './attending.ts';
import { TASK_FINALIZER } from './boards.ts';
import { isAtStandstill, isFinished } from './card.ts';
import { wantsRetry } from './decide.ts';

export async function rest(task: Task, { client, boards, verifier }: Attending, now: Date): Promise<Result> {
  if ((task.spec.verify ?? []).length > 0) await verifier?.forget(task.metadata.uid);
  const leftMs = timeLeftMs(task, now);
  if (leftMs === undefined) return {};
  if (leftMs > 0) return { requeueAfterMs: leftMs };
  const { name, uid, resourceVersion } = task.metadata;
  // Whoever counts on it would wait for a task that does not exist.
  if ((await boards.of(task)).hasOpenDependents(name)) return { requeueAfterMs: LOOK_MS };
  await ignoreNotFound(client.delete(keyOf(task), { preconditions: { uid, resourceVersion } }));
  return {};
}

/**
 * Nothing is left to do for it, and nobody is still to be told of it: neither when it is found like this after a start, nor when it was
 * finished before this change. Pure.
 */
export function isAtRest(task: Task, before: Task | undefined): boolean {
  const { metadata, spec, status } = task;
  return (
    isFinished(task) &&
    (before === undefined || isFinished(before)) &&
    status?.observedGeneration === metadata.generation &&
    (metadata.finalizers ?? []).includes(TASK_FINALIZER) &&
    !wantsRetry(task) &&
    !isTalkedAbout(task) &&
    (spec.verify ?? []).length === 0 &&
    typeof spec.ttlSecondsAfterFinished !== 'number' &&
    status?.budget?.reserved === undefined &&
    !MARKS.some((mark) => isTrue(task, mark))
  );
}

/** Marks of a running attempt, which a pass takes off. */
const MARKS = ['Stuck', 'FileOverlap', 'Frozen'];

/** Others are told of what becomes of it. */
export function isTalkedAbout(task: Task): boolean {
  return task.spec.request !== undefined || task.spec.planRequired || isAtStandstill(task);
}

/** Undefined: it stays. One that a Team made would only be made again, and run again. */
export function timeLeftMs(task: Task, now: Date): number | undefined {
  const { ttlSecondsAfterFinished: seconds } = task.spec;
  const { finishedAt } = task.status ?? {};
  if (typeof seconds !== 'number' || finishedAt === undefined || controllerOf(task)?.kind === 'Team') return undefined;
  return Date.parse(finishedAt) + seconds * 1_000 - now.getTime();
}
