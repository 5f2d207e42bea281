/** A Task that has ended: it stays with its team, or goes when its time is over. */
import { controllerOf, keyOf } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import type { Result } from '#runtime/controller.ts';
import { type Attending, LOOK_MS } from './attending.ts';

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

/** Undefined: it stays. One that a Team made would only be made again, and run again. */
export function timeLeftMs(task: Task, now: Date): number | undefined {
  const { ttlSecondsAfterFinished: seconds } = task.spec;
  const { finishedAt } = task.status ?? {};
  if (typeof seconds !== 'number' || finishedAt === undefined || controllerOf(task)?.kind === 'Team') return undefined;
  return Date.parse(finishedAt) + seconds * 1_000 - now.getTime();
}
