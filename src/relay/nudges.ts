/** A nudge that speaks of a request: only of an open one, and only by whoever asked. */
import type { Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { AgentisoError, ConflictError, ignoreNotFound, NotFoundError } from '#lib/errors.ts';
import type { TeamName } from './roster.ts';
import type { Speaker } from './speaker.ts';

export async function refuseNudge(client: Client, { by, name, place }: Speaker, requestId: string): Promise<void> {
  const request = await requestNamed(client, place, requestId);
  if (!request) throw new NotFoundError(`there is no request ${requestId} in team ${place.team}`);
  if (by !== 'operator' && request.spec.request?.by !== name) {
    throw new AgentisoError('Forbidden', `the request ${requestId} is not yours`, { hint: 'whoever asked may nudge' });
  }
  const phase = request.status?.phase ?? 'Pending';
  if (phase !== 'Pending') throw new ConflictError(`the request ${requestId} is not open any more: it is ${phase}`);
}

async function requestNamed(client: Client, { namespace, team }: TeamName, requestId: string): Promise<Task | undefined> {
  for (const name of [`${team}-${requestId}`, requestId]) {
    const task = await ignoreNotFound(client.get<Task>({ kind: 'Task', namespace, name }));
    if (task?.spec.team === team && task.spec.request) return task;
  }
  return undefined;
}
