/** A running attempt: whether it gets on, and whose files it may touch. */
import type { Task } from '#api/types.ts';
import type { WithStatus } from '#runtime/controller.ts';
import type { Means } from './attending.ts';
import { markOverlap, markStuck, type StuckLook } from './stuck.ts';

export async function watchOver(task: WithStatus<Task>, { deps, ctx }: Means): Promise<StuckLook> {
  if (task.status.phase !== 'Running') return { isGivenUp: false, inMs: undefined };
  const board = await deps.boards.of(task);
  if ((task.spec.files ?? []).length > 0) markOverlap(task, board.overlapping(task.metadata.name), ctx);
  return markStuck(task, { averageMs: board.averageMs, floorMs: deps.stuckFloorMs }, ctx);
}
