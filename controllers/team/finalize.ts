/** The end of a Team: sub-teams first, then its agents and tasks, then what these began with, last its part of the parent's budget. */
import { type KindObject, keyOf, ORPHAN_FINALIZER } from '#api/meta.ts';
import type { Agent, Snapshot, Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound } from '#lib/errors.ts';
import { setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, Result, WithStatus } from '#runtime/controller.ts';
import { inTurns } from '#runtime/in-turns.ts';
import { ownedBy } from '#runtime/owner.ts';
import { isOwnedBy } from './lineage.ts';
import { releaseReservation } from './reservation.ts';

/** Every change of what is waited for brings a look; this is for one that was missed. */
const LOOK_MS = 5_000;

export async function finalizeTeam(client: Client, team: WithStatus<Team>, ctx: ReconcileContext): Promise<Result | 'done'> {
  team.status.phase = 'Terminating';
  const waiting = await removeParts(client, team);
  if (waiting !== undefined) {
    setCondition(team, { type: 'Ready', status: 'False', reason: 'Terminating', message: `waits for ${waiting}` }, ctx.now());
    return { requeueAfterMs: LOOK_MS };
  }
  await releaseReservation(client, team);
  return 'done';
}

/** What still has to go before the team can; undefined when nothing is left. */
async function removeParts(client: Client, team: Team): Promise<string | undefined> {
  // Whoever deletes the team alone wants its parts to live on: the garbage collector makes them free first.
  if ((team.metadata.finalizers ?? []).includes(ORPHAN_FINALIZER)) return 'its parts to be released';
  const { namespace, name } = team.metadata;
  const subTeams = (await client.list<Team>('Team', { namespace })).items.filter((other) => isOwnedBy(other, team));
  if (subTeams.length > 0) return remove(client, subTeams, 'sub-teams');
  const query = { namespace, fieldSelector: `spec.team=${name}` };
  const [agents, tasks] = await Promise.all([client.list<Agent>('Agent', query), client.list<Task>('Task', query)]);
  const parts = [...agents.items, ...tasks.items].filter((part) => ownedBy(part, team));
  if (parts.length > 0) return remove(client, parts, 'agents and tasks');
  const snapshots = (await client.list<Snapshot>('Snapshot', query)).items.filter((part) => ownedBy(part, team));
  return snapshots.length > 0 ? remove(client, snapshots, 'its golden snapshot') : undefined;
}

const MAX_NAMES = 5;

async function remove(client: Client, parts: readonly KindObject[], what: string): Promise<string> {
  const staying = parts.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  await inTurns(staying, (part) => ignoreNotFound(client.delete(keyOf(part), { preconditions: { uid: part.metadata.uid } })));
  const names = parts.slice(0, MAX_NAMES).map(({ metadata }) => metadata.name);
  const more = parts.length - names.length;
  return `${what}: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
