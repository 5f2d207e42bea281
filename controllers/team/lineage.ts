/** A sub-team's place below its parents: where it stands, that its parent owns it, and what they allow. */
import type { KindObject, OwnerReference } from '#api/meta.ts';
import { depthProblem, describeExcess, excesses, lineageOf } from '#api/team-rules.ts';
import type { Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { StalledError } from '#lib/errors.ts';
import { getCondition, setCondition } from '#runtime/conditions.ts';
import type { ReconcileContext, WithStatus } from '#runtime/controller.ts';
import { updateUnlessChanged } from './write.ts';

const RESTRICTED = 'PolicyRestricted';

/** The parent first. Throws what keeps the team from having a place; a change of the teams above brings the next look. */
export async function placeBelow(client: Client, team: Team, deepest: number): Promise<readonly Team[]> {
  if (typeof team.spec.parent !== 'string') return [];
  const { items } = await client.list<Team>('Team', { namespace: team.metadata.namespace });
  const byName = new Map(items.map((item) => [item.metadata.name, item]));
  const lineage = lineageOf(team, (name) => byName.get(name));
  const { ancestors, missing } = lineage;
  const depth = depthProblem(lineage, deepest);
  if (depth !== undefined) throw new StalledError('DepthExceeded', `team ${team.metadata.name} stands too deep: ${depth}`);
  if (missing !== undefined) {
    throw new StalledError('ParentNotFound', `there is no team ${missing} in this namespace; create it, or this team without a parent`);
  }
  const leaving = ancestors.find(({ metadata }) => metadata.deletionTimestamp !== undefined);
  if (leaving) throw new StalledError('ParentTerminating', `team ${leaving.metadata.name} is being deleted`);
  return ancestors;
}

/** True when it was not so: the team was written, by this or by somebody else, and the pass has an old version of it. */
export async function ensureOwnedBy(client: Client, team: KindObject, parent: Team | undefined): Promise<boolean> {
  const { ownerReferences = [] } = team.metadata;
  if (!parent || ownerReferences.some(({ uid, blockOwnerDeletion }) => uid === parent.metadata.uid && blockOwnerDeletion)) return false;
  const others = ownerReferences.filter(({ uid }) => uid !== parent.metadata.uid);
  const { status: _unchanged, ...rest } = team;
  await updateUnlessChanged(client, { ...rest, metadata: { ...team.metadata, ownerReferences: [...others, referenceTo(parent)] } });
  return true;
}

/** Not as its controller: a sub-team is its own, and only goes with its parent. */
function referenceTo({ apiVersion, kind, metadata: { name, uid } }: Team): OwnerReference {
  return { apiVersion, kind, name, uid, blockOwnerDeletion: true };
}

export function isOwnedBy({ metadata }: KindObject, owner: KindObject): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === owner.metadata.uid);
}

/** Says so where the team asks for more than it gets; it can only have come by a change further up, or past admission. */
export function reportRestrictions(team: WithStatus<Team>, ancestors: readonly Team[], ctx: ReconcileContext): void {
  const found = excesses(team, ancestors);
  const before = getCondition(team, RESTRICTED);
  if (found.length === 0) {
    if (before) team.status.conditions = (team.status.conditions ?? []).filter(({ type }) => type !== RESTRICTED);
    return;
  }
  const message = `asked for and not in force: ${found.map(describeExcess).join('; ')}`;
  setCondition(team, { type: RESTRICTED, status: 'True', reason: 'NarrowedByParent', message }, ctx.now());
  if (before?.message !== message) ctx.events.warning(team, RESTRICTED, message);
}
