/** The Agents and Tasks of a team, brought to what the spec says: made within the budget, put right, marked, let go. */
import type { Draft, KindObject } from '#api/meta.ts';
import { reservedIn } from '#api/team-budget.ts';
import type { EffectivePolicy } from '#api/team-rules.ts';
import { type Agent, shortName, type Task, type Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { ignoreNotFound, StalledError } from '#lib/errors.ts';
import { copyJson, equalJson } from '#lib/json.ts';
import type { ReconcileContext } from '#runtime/controller.ts';
import { ownedBy, setControllerOwner } from '#runtime/owner.ts';
import { agentsOf, tasksOf } from './expand.ts';
import type { Hold } from './hold.ts';
import type { Places } from './places.ts';
import { isInWork, letGo, marksOf } from './scale.ts';
import { OF_LIST, OF_ROLE } from './spoken-for.ts';
import { updateUnlessChanged } from './write.ts';

export interface TeamLimits {
  /** Of one team, sub-teams not counted. */
  readonly maxAgentsPerTeam: number;
  /** The level of the deepest sub-team. */
  readonly maxNestingDepth: number;
  /** Of all teams together. */
  readonly maxAgents: number;
}

export interface Means {
  readonly client: Client;
  readonly limits: TeamLimits;
  readonly places: Places;
  readonly ctx: ReconcileContext;
}

export interface Bounds {
  /** Agents that the team and its sub-teams may have by now. */
  readonly granted: number;
  readonly policy: EffectivePolicy;
  readonly agents: readonly Agent[];
  readonly tasks: readonly Task[];
}

export interface Settled {
  readonly wanted: readonly Draft[];
  readonly hold?: Hold;
  readonly requeueAfterMs?: number;
}

/** There may be room again without any change that the team hears of. */
const ROOM_LOOK_MS = 5_000;
/** Somebody else wrote first, perhaps something that is of no interest here. */
const GAVE_WAY_MS = 20;

export async function ensureChildren(team: Team, bounds: Bounds, means: Means): Promise<Settled> {
  const { client, ctx } = means;
  const wanted = agentsOf(team, bounds.policy);
  refuseForeigners(team, wanted, bounds.agents);
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const owned = bounds.agents.filter((agent) => ownedBy(agent, team));
  const surplus = owned.filter(({ metadata }) => !names.has(metadata.name));
  const drafts = new Map(wanted.map((draft) => [draft.metadata.name, draft]));
  let isWritten = true;
  for (const agent of bounds.agents) {
    const wish = { team, draft: drafts.get(agent.metadata.name), isSurplus: surplus.includes(agent), now: ctx.now() };
    isWritten = (await ensureAgent(client, agent, wish)) && isWritten;
  }
  isWritten = (await ensureTasks(client, team, bounds.tasks)) && isWritten;
  const leavesMs = await letGo(client, team, { surplus, tasks: bounds.tasks }, ctx);
  const hold = await ensureMade(team, wanted, bounds, means);
  const requeueAfterMs = isWritten ? (leavesMs ?? (hold ? ROOM_LOOK_MS : undefined)) : Math.min(GAVE_WAY_MS, leavesMs ?? GAVE_WAY_MS);
  return { wanted, ...(hold ? { hold } : {}), ...(requeueAfterMs === undefined ? {} : { requeueAfterMs }) };
}

/** Also one that has only the short name: inside the team the two would be called the same. */
function refuseForeigners(team: Team, wanted: readonly Draft[], members: readonly KindObject[]): void {
  if (wanted.length === 0) return;
  const called = (name: string | undefined) => shortName(team.metadata.name, name ?? '');
  const names = new Set(wanted.map(({ metadata }) => called(metadata.name)));
  const taken = members.find((member) => !ownedBy(member, team) && names.has(called(member.metadata.name)));
  if (taken) throw nameTaken(taken.kind, taken.metadata.name);
}

export function nameTaken(kind: string, name: string): StalledError {
  return new StalledError('NameTaken', `${kind} ${name} exists and does not belong to this team; delete or rename it`);
}

interface Wish {
  readonly team: Team;
  readonly draft: Draft | undefined;
  readonly isSurplus: boolean;
  readonly now: Date;
}

/** One that is not the team's own is only put to rest with the team. False: somebody else wrote first. */
async function ensureAgent(client: Client, agent: Agent, { team, draft, isSurplus, now }: Wish): Promise<boolean> {
  if (agent.metadata.deletionTimestamp !== undefined) return true;
  const { desiredState, annotations } = marksOf(agent, { isSurplus, suspend: team.spec.suspend, now });
  const spec = { ...(draft ? following(agent.spec, draft.spec as object, OF_ROLE) : agent.spec), desiredState };
  if (equalJson(agent.spec, spec) && equalJson(agent.metadata.annotations ?? {}, annotations)) return true;
  return updateUnlessChanged(client, { ...agent, metadata: { ...agent.metadata, annotations: { ...annotations } }, spec });
}

/** What the draft says, without what it has stopped to say. All else was added by admission, or is for others to say. Pure. */
function following<T extends object>(spec: T, draft: object, removable: readonly string[]): T {
  const kept = Object.entries(spec).filter(([field]) => field in draft || !removable.includes(field));
  return { ...Object.fromEntries(kept), ...draft } as T;
}

/** What is missing is made all at once or not at all: half a team does no work. */
async function ensureMade(team: Team, wanted: readonly Draft[], { granted, agents }: Bounds, means: Means): Promise<Hold | undefined> {
  const { limits, places, client, ctx } = means;
  const existing = new Set(agents.map(({ metadata }) => metadata.name));
  const missing = wanted.filter(({ metadata }) => !existing.has(metadata.name ?? ''));
  if (missing.length === 0) return undefined;
  for (const { metadata } of missing) await refuseTaken(client, team, metadata.name ?? '');
  const hold = shortage(team, { wanted: wanted.length, missing: missing.length, existing: existing.size, granted }, limits);
  if (hold) return hold;
  const full = await places.take(missing.length, async () => {
    for (const draft of missing) await client.create(rested(owned(draft, team), team, ctx.now()));
  });
  if (!full) return undefined;
  const numbers = `${full.used} exist or are being made, team ${team.metadata.name} asks for ${missing.length} more`;
  return { reason: 'QuotaExceeded', message: `at most ${full.limit} agents run here (limits.maxAgents); ${numbers}` };
}

interface Count {
  readonly wanted: number;
  readonly missing: number;
  readonly existing: number;
  readonly granted: number;
}

/** Why what is missing cannot be made. Pure. */
export function shortage(team: Team, { wanted, missing, existing, granted }: Count, { maxAgentsPerTeam }: TeamLimits): Hold | undefined {
  const reason = 'QuotaExceeded';
  const { name } = team.metadata;
  if (wanted > maxAgentsPerTeam) {
    return { reason, message: `team ${name} asks for ${wanted} agents; at most ${maxAgentsPerTeam} per team (limits.maxAgentsPerTeam)` };
  }
  const reserved = reservedIn(team);
  const room = Math.min(granted - reserved, maxAgentsPerTeam) - existing;
  if (missing <= room) return undefined;
  const taken = `${existing} agents exist${reserved > 0 ? `, ${reserved} are set aside for sub-teams` : ''}`;
  return { reason, message: `team ${name} may have ${granted} agents: ${taken}; ${missing} more have to wait until others are gone` };
}

/** An agent of that name in another team. */
async function refuseTaken(client: Client, team: Team, name: string): Promise<void> {
  const existing = await ignoreNotFound(client.get<Agent>({ kind: 'Agent', namespace: team.metadata.namespace, name }));
  if (existing && !ownedBy(existing, team)) throw nameTaken('Agent', name);
}

function owned(draft: Draft, team: Team): Draft {
  const child = copyJson(draft);
  setControllerOwner(child, team);
  return child;
}

/** A suspended team makes agents that rest, to wake with the others. */
function rested(draft: Draft, { spec }: Team, now: Date): Draft {
  if (!spec.suspend) return draft;
  const awake = { ...draft, spec: { ...(draft.spec as object), desiredState: 'Running' } } as Agent;
  const { desiredState, annotations } = marksOf(awake, { isSurplus: false, suspend: true, now });
  return { ...draft, metadata: { ...draft.metadata, annotations: { ...annotations } }, spec: { ...awake.spec, desiredState } };
}

/**
 * Makes what is missing, brings back what drifted, removes what the spec no longer lists, but not from under a running attempt.
 * False: somebody else wrote first.
 */
async function ensureTasks(client: Client, team: Team, tasks: readonly Task[]): Promise<boolean> {
  const wanted = tasksOf(team);
  refuseForeigners(team, wanted, tasks);
  let isWritten = true;
  for (const draft of wanted) isWritten = (await ensureTask(client, team, draft)) && isWritten;
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  for (const task of tasks) {
    const { namespace, name, uid, deletionTimestamp } = task.metadata;
    if (!ownedBy(task, team) || names.has(name) || isInWork(task) || deletionTimestamp !== undefined) continue;
    await ignoreNotFound(client.delete({ kind: 'Task', namespace, name }, { preconditions: { uid } }));
  }
  return isWritten;
}

async function ensureTask(client: Client, team: Team, draft: Draft): Promise<boolean> {
  const key = { kind: 'Task', namespace: team.metadata.namespace, name: draft.metadata.name ?? '' };
  const existing = await ignoreNotFound(client.get<KindObject>(key));
  if (!existing) {
    await client.create(owned(draft, team));
    return true;
  }
  if (!ownedBy(existing, team)) throw nameTaken('Task', key.name);
  const spec = following(existing.spec as object, draft.spec as object, OF_LIST);
  if (existing.metadata.deletionTimestamp !== undefined || equalJson(existing.spec, spec)) return true;
  return updateUnlessChanged(client, { ...existing, spec });
}
