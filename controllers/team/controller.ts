/**
 * Team: the Agents of its roles, the Tasks of its list and its golden Snapshot, made and kept as the spec says, within the budget and below its
 * parents.
 * Owns the conditions Ready and PolicyRestricted. A Team goes after its sub-teams and after everything it made.
 */
import { DEFAULT_LIMITS } from '#api/limits.ts';
import type { KindObject } from '#api/meta.ts';
import { reservedIn } from '#api/team-budget.ts';
import { effectivePolicy } from '#api/team-rules.ts';
import type { Agent, Merge, Task, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { type ConditionInput, getCondition, setCondition } from '#runtime/conditions.ts';
import type { Controller, ReconcileContext, Result, Wake, WithStatus } from '#runtime/controller.ts';
import { ensureChildren, type Means, type Settled, type TeamLimits } from './children.ts';
import { agentConcern, busyConcern, goldenConcern, mergeConcern, taskConcern } from './concerns.ts';
import { countWrites } from './counted-writes.ts';
import { Family } from './family.ts';
import { finalizeTeam } from './finalize.ts';
import { ensureGolden } from './golden.ts';
import type { Hold } from './hold.ts';
import { ensureOwnedBy, placeBelow, reportRestrictions } from './lineage.ts';
import { ensureMerge } from './merge.ts';
import { Places } from './places.ts';
import { ensureReserved, type Grant, liveReservations } from './reservation.ts';
import { budgetOf, isOpen, membersOf, phaseOf, readyCondition, spendingOf, taskSummaryOf } from './summary.ts';

/** A team may have thousands of tasks, and each look counts them all; while they come and go it is looked at once a second. */
const WORK_DELAY_MS = 250;
const WORK_SPACING_MS = 1_000;
/** Agents of a team start together, each with several changes. */
const AGENTS_DELAY_MS = 20;

export const TEAM_FINALIZER = 'agentiso.dev/team';

export interface TeamDeps {
  readonly client: Client;
  /** Read anew each time, for they may change; 20 agents per team, 100 in all, when absent. */
  readonly limits?: TeamLimits;
  /** All teams are looked at again: the limits may hold one no longer, or now. */
  readonly limitChanges?: Wake;
  /** The team is gone: what was kept for it outside the store goes too. */
  readonly forgetTeam?: (team: Team) => Promise<void>;
  readonly people?: PeopleInboxes;
}

/** Messages for people, by team. */
export interface PeopleInboxes {
  pending(team: Team): Promise<number>;
  readonly changes: Wake;
}

export function teamController({ client, limits = DEFAULT_LIMITS, limitChanges, forgetTeam, people }: TeamDeps): Controller<Team> {
  const places = new Places(client, limits);
  const family = new Family();
  return {
    name: 'team',
    kind: 'Team',
    finalizer: TEAM_FINALIZER,
    watches: [
      { kind: 'Agent', toKeys: agentConcern, delayMs: AGENTS_DELAY_MS },
      { kind: 'Agent', toKeys: busyConcern, delayMs: WORK_DELAY_MS, spacingMs: WORK_SPACING_MS },
      { kind: 'Task', toKeys: taskConcern, delayMs: WORK_DELAY_MS, spacingMs: WORK_SPACING_MS },
      { kind: 'Merge', toKeys: mergeConcern },
      { kind: 'Snapshot', toKeys: goldenConcern },
      { kind: 'Team', toKeys: (team, type) => family.concernedBy(team, type) },
    ],
    wakes: [people?.changes, limitChanges].filter((wake) => wake !== undefined),
    ignoresOwnWrites: true,
    async reconcile(team, ctx) {
      await showMessages(team, people);
      return reconcileTeam(team, { client, limits, places, ctx });
    },
    async finalize(team, ctx) {
      const result = await finalizeTeam(client, team, ctx);
      if (result === 'done') await forgetTeam?.(team);
      return result;
    },
  };
}

/** Shown from the first message on. */
async function showMessages(team: WithStatus<Team>, people: PeopleInboxes | undefined): Promise<void> {
  const pending = (await people?.pending(team)) ?? 0;
  if (pending > 0 || team.status.messagesPending !== undefined) team.status.messagesPending = pending;
}

async function reconcileTeam(team: WithStatus<Team>, means: Means): Promise<Result> {
  const { client, limits, ctx } = means;
  team.status.phase ??= 'Creating';
  const ancestors = await placeBelow(client, team, limits.maxNestingDepth);
  // The write of the owner brings the next look, at the new version.
  if (await ensureOwnedBy(client, team, ancestors[0])) return {};
  team.status.depth = ancestors.length;
  reportRestrictions(team, ancestors, ctx);
  const [agents, tasks] = await Promise.all([membersIn<Agent>(client, team, 'Agent'), membersIn<Task>(client, team, 'Task')]);
  await pruneReservations(client, team);
  const grant = await ensureReserved(client, team, ancestors, agents.length + reservedIn(team));
  if (grant.hold === undefined) await ensureGolden(client, team);
  const policy = effectivePolicy(team, ancestors);
  const counted = countWrites(client);
  const settled = await ensureChildren(team, { granted: grant.granted, policy, agents, tasks }, { ...means, client: counted });
  await ensureMerge(client, team, { agents, tasks });
  await summarise(team, settled, { grant, means, seen: counted.writes() === 0 ? { agents, tasks } : undefined });
  return settled.requeueAfterMs === undefined ? {} : { requeueAfterMs: settled.requeueAfterMs };
}

/** In the copy: written at the end of the pass, unless somebody else wrote in between. */
async function pruneReservations(client: Client, team: WithStatus<Team>): Promise<void> {
  const { budget } = team.status;
  if (!budget?.reservations) return;
  const { namespace, name } = team.metadata;
  const { items } = await client.list<Team>('Team', { namespace, fieldSelector: `spec.parent=${name}` });
  budget.reservations = [...liveReservations(team, items)];
}

interface Pass {
  readonly grant: Grant;
  readonly means: Means;
  /** What is there, where the pass has written nothing. A team may have thousands of tasks. */
  readonly seen: { readonly agents: readonly Agent[]; readonly tasks: readonly Task[] } | undefined;
}

async function summarise(team: WithStatus<Team>, { wanted, hold }: Settled, { grant, means, seen }: Pass): Promise<void> {
  const { client, ctx } = means;
  const agents = seen?.agents ?? (await membersIn<Agent>(client, team, 'Agent'));
  const tasks = taskSummaryOf(seen?.tasks ?? (await membersIn<Task>(client, team, 'Task')));
  const merges = await membersIn<Merge>(client, team, 'Merge');
  const ready = readyCondition(team, { wanted: wanted.length, agents, hold: grant.hold ?? hold });
  Object.assign(team.status, {
    phase: phaseOf(ready, { tasks, isMerging: merges.some(isOpen) }),
    members: membersOf(team, agents),
    taskSummary: tasks,
    budget: budgetOf(team, agents, grant.granted),
    ...spendingOf(team),
    observedGeneration: team.metadata.generation,
  });
  reportHold(team, grant.hold ?? hold, ready, ctx);
  setCondition(team, ready, ctx.now());
}

function reportHold(team: Team, hold: Hold | undefined, ready: ConditionInput, ctx: ReconcileContext): void {
  if (hold && getCondition(team, 'Ready')?.reason !== ready.reason) ctx.events.warning(team, hold.reason, hold.message);
}

async function membersIn<T extends KindObject>(client: Client, { metadata }: Team, kind: string): Promise<readonly T[]> {
  return (await client.list<T>(kind, { namespace: metadata.namespace, fieldSelector: `spec.team=${metadata.name}` })).items;
}
