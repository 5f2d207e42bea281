/** Names of tasks that were given none: task-001, task-002, … in their team, never the same twice. */

import { shortName, type Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound, isCode } from '#lib/errors.ts';

/** On the Team: the highest number that was given to a task that is gone. Those that exist speak for themselves. */
export const LAST_TASK_ANNOTATION = 'agentiso.dev/last-task';
const TRIES = 20;

export function nameOf(team: string, number: number): string {
  return `${team}-task-${String(number).padStart(3, '0')}`;
}

export function numberIn(team: string, name: string): number | undefined {
  const [, digits] = /^task-(\d{3,9})$/.exec(shortName(team, name)) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

export function lastNumberOf(team: Team | undefined): number {
  const number = Number(team?.metadata.annotations?.[LAST_TASK_ANNOTATION] ?? 0);
  return Number.isSafeInteger(number) && number > 0 ? number : 0;
}

/** Before the task with this number goes. A team that goes itself needs no memory. */
export async function ensureRemembered(client: Client, { namespace, team }: Place, number: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const owner = await ignoreNotFound(client.get<Team>({ kind: 'Team', namespace, name: team }));
    if (!owner || owner.metadata.deletionTimestamp !== undefined || lastNumberOf(owner) >= number) return;
    try {
      await ignoreNotFound(client.update<Team>(withNumber(owner, number)));
      return;
    } catch (error) {
      if (!isCode(error, 'Conflict') || attempt === TRIES) throw error;
    }
  }
}

interface Place {
  readonly namespace: string;
  readonly team: string;
}

function withNumber(team: Team, number: number): Team {
  const annotations = { ...team.metadata.annotations, [LAST_TASK_ANNOTATION]: String(number) };
  return { ...team, metadata: { ...team.metadata, annotations } };
}
