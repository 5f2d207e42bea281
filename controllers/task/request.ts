/** Open requests to a team: how long they stay open, and when everybody is reminded of them. Pure. */
import type { Task } from '#api/types.ts';
import type { WithStatus } from '#runtime/controller.ts';

/** When it was asked for, to the millisecond: creationTimestamp knows whole seconds, and a request may live for one. */
export const REQUESTED_ANNOTATION = 'agentiso.dev/requested-at';

/** Who asked for the Task to be made, from the connection it was asked on. */
export const CREATED_BY_ANNOTATION = 'agentiso.dev/created-by';

/** For good: the annotation may go with a later write. */
export function showMaker({ metadata, status }: WithStatus<Task>): void {
  const createdBy = metadata.annotations?.[CREATED_BY_ANNOTATION];
  if (createdBy !== undefined) status.createdBy ??= createdBy;
}

/** When it expires unless somebody claims it; undefined for what is no request. */
export function deadlineOf(task: Task): number | undefined {
  const { request } = task.spec;
  return request && openSince(task) + request.timeoutSeconds * 1_000;
}

export function halfTimeOf(task: Task): number | undefined {
  const { request } = task.spec;
  return request && openSince(task) + request.timeoutSeconds * 500;
}

/** One that was claimed and came back is open for its whole time again. */
function openSince({ metadata, status }: Task): number {
  if ((status?.attempt ?? 0) > 0 && status?.finishedAt !== undefined) return Date.parse(status.finishedAt);
  const createdMs = Date.parse(metadata.creationTimestamp);
  const saidMs = Date.parse(metadata.annotations?.[REQUESTED_ANNOTATION] ?? '');
  return saidMs >= createdMs && saidMs < createdMs + 1_000 ? saidMs : createdMs;
}
