/**
 * A sub-team's part of its parent's budget: set aside in the parent's status before anything is made, by compare-and-swap on the
 * parent, whose spec has the limit. What a sub-team has comes whole out of its parent's part, so one place per level keeps the chain.
 */
import { grantedTo, ownAgents, type Reservation, reservationsOf, reservedIn, spentOn } from '#api/team-budget.ts';
import type { Agent, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound, isCode, WaitingError } from '#lib/errors.ts';
import type { Hold } from './hold.ts';

const TRIES = 5;
const CONTENDED_MS = 50;

/** `granted`: what the team may have by now, itself and below. */
export interface Grant {
  readonly granted: number;
  readonly hold?: Hold;
}

/** `held`: agents of the team that exist and what it has set aside itself; less than that is not given back. */
export async function ensureReserved(client: Client, team: Team, ancestors: readonly Team[], held: number): Promise<Grant> {
  const [known] = ancestors;
  if (!known) return { granted: team.spec.budget.maxAgents };
  let parent: Team | undefined = known;
  for (let attempt = 1; parent && attempt <= TRIES; attempt++) {
    const grant = await reserve(client, team, [parent, ...ancestors.slice(1)], held);
    if (grant) return grant;
    parent = await sameTeam(client, known);
  }
  throw contended(known.metadata.name);
}

/** One try; undefined when somebody else wrote to the parent in between. */
async function reserve(client: Client, team: Team, ancestors: readonly Team[], held: number): Promise<Grant | undefined> {
  const [parent, grandparent] = ancestors;
  if (!parent) return undefined;
  const present = reservationsOf(parent).find(({ uid }) => uid === team.metadata.uid)?.maxAgents;
  const before = present ?? 0;
  const asked = amountOf(team, before, held);
  if (asked === present) return { granted: asked };
  const own = await ownOf(client, parent);
  const room = grantedTo(parent, grandparent) - own - reservedIn(parent) + before;
  if (asked > before && asked > room) return { granted: before, hold: refusal(team, parent, { asked, own, room, ancestors }) };
  const isWritten = await writeReservations(client, parent, [...withoutTeam(parent, team), reservationOf(team, asked)]);
  return isWritten ? { granted: asked } : undefined;
}

/** As it is now, unless it is gone or going. */
async function sameTeam(client: Client, { metadata }: Team): Promise<Team | undefined> {
  const team = await ignoreNotFound(client.get<Team>({ kind: 'Team', namespace: metadata.namespace, name: metadata.name }));
  return team?.metadata.uid === metadata.uid && team.metadata.deletionTimestamp === undefined ? team : undefined;
}

/** For a team that is going. */
export async function releaseReservation(client: Client, team: Team): Promise<void> {
  if (typeof team.spec.parent !== 'string') return;
  const key = { kind: 'Team', namespace: team.metadata.namespace, name: team.spec.parent };
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const parent = await ignoreNotFound(client.get<Team>(key));
    if (!parent || withoutTeam(parent, team).length === reservationsOf(parent).length) return;
    if (await writeReservations(client, parent, withoutTeam(parent, team))) return;
  }
  throw contended(key.name);
}

function contended(parent: string): WaitingError {
  return new WaitingError('Conflict', `others changed team ${parent} ${TRIES} times in a row; its budget is looked at again`, CONTENDED_MS);
}

/** A sub-team that was removed past its finalizer gives nothing back itself. */
export function liveReservations(team: Team, subTeams: readonly Team[]): readonly Reservation[] {
  const uids = new Set(subTeams.map(({ metadata }) => metadata.uid));
  return reservationsOf(team).filter(({ uid }) => uids.has(uid));
}

/** Growth is asked for at once; a smaller budget is given back when what exists fits into it. Pure. */
export function amountOf({ spec }: Team, present: number, held: number): number {
  const { maxAgents } = spec.budget;
  return maxAgents >= present ? maxAgents : Math.max(maxAgents, Math.min(present, held));
}

async function ownOf(client: Client, team: Team): Promise<number> {
  const { namespace, name } = team.metadata;
  const { items } = await client.list<Agent>('Agent', { namespace, fieldSelector: `spec.team=${name}` });
  return ownAgents(
    team,
    items.map(({ metadata }) => metadata.name),
  );
}

async function writeReservations(client: Client, parent: Team, reservations: readonly Reservation[]): Promise<boolean> {
  const budget = { ...parent.status?.budget, reservations: [...reservations] };
  try {
    await client.updateStatus<Team>({ ...parent, status: { ...parent.status, budget } });
    return true;
  } catch (error) {
    if (isCode(error, 'Conflict') || isCode(error, 'NotFound')) return false;
    throw error;
  }
}

function withoutTeam(parent: Team, { metadata }: Team): Reservation[] {
  return reservationsOf(parent).filter(({ uid }) => uid !== metadata.uid);
}

function reservationOf({ metadata }: Team, maxAgents: number): Reservation {
  return { uid: metadata.uid, name: metadata.name, maxAgents };
}

interface Shortage {
  readonly asked: number;
  readonly own: number;
  readonly room: number;
  readonly ancestors: readonly Team[];
}

/** Names the ancestor that has no room: the parent, or one further up that has not set aside what the parent needs. */
function refusal(team: Team, parent: Team, { asked, own, room, ancestors }: Shortage): Hold {
  const reason = 'QuotaExceeded';
  const index = ancestors.findLastIndex((ancestor, at) => grantedTo(ancestor, ancestors[at + 1]) < ancestor.spec.budget.maxAgents);
  const [short, above] = index < 0 ? [] : ancestors.slice(index);
  if (short && above) {
    const wanted = `the ${short.spec.budget.maxAgents} agents of team ${short.metadata.name}`;
    return { reason, message: `team ${above.metadata.name} has no room for ${wanted}, and ${team.metadata.name} needs ${asked} of them` };
  }
  const numbers = `budget.maxAgents is ${parent.spec.budget.maxAgents}: ${spentOn(parent, own)}; ${Math.max(0, room)} remain`;
  return { reason, message: `team ${parent.metadata.name} has no room for the ${asked} agents of team ${team.metadata.name}: ${numbers}` };
}
