/** A Team's status from its members and tasks. Pure. */
import { ownAgents, reservationsOf, reservedIn } from '#api/team-budget.ts';
import { ledgerOf, toSpending } from '#api/team-spending.ts';
import type { Agent, Merge, Task, Team } from '#api/types.ts';
import { shortName } from '#api/types.ts';
import { type ConditionInput, getCondition, isTrue } from '#runtime/conditions.ts';
import type { Hold } from './hold.ts';
import { isDraining } from './scale.ts';

type Status = NonNullable<Team['status']>;

export function membersOf(team: Team, agents: readonly Agent[]): NonNullable<Status['members']> {
  return agents.map(({ metadata, spec, status }) =>
    known({
      name: shortName(team.metadata.name, metadata.name),
      role: spec.roleName,
      phase: status?.phase ?? 'Pending',
      isolation: status?.isolation?.driver,
      ip: status?.ip,
      messagesPending: status?.messagesPending ?? status?.mailbox?.unacked,
      workspaceId: status?.workspaceId,
      incarnation: status?.incarnation,
    }),
  );
}

type Known<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** Without what is not known. */
function known<T extends object>(fields: T): Known<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Known<T>;
}

/** `granted`: of a sub-team, what its parent has set aside for it. */
export function budgetOf(team: Team, agents: readonly Agent[], granted: number): NonNullable<Status['budget']> {
  const names = agents.map(({ metadata }) => metadata.name);
  const reservations = reservationsOf(team);
  const reserved = reservedIn(team);
  return {
    used: names.length,
    reserved,
    remaining: granted === 0 ? 0 : granted - ownAgents(team, names) - reserved,
    ...(reservations.length === 0 ? {} : { reservations: [...reservations] }),
  };
}

/** As the ledger has it, with what remains by the limits of now. */
export function spendingOf(team: Team): Pick<Status, 'spending'> {
  const spending = toSpending(ledgerOf(team));
  return spending ? { spending } : {};
}

export function taskSummaryOf(tasks: readonly Task[]): NonNullable<Status['taskSummary']> {
  const summary = { total: tasks.length, pending: 0, claimed: 0, running: 0, blocked: 0, succeeded: 0, failed: 0 };
  for (const { status } of tasks) summary[phaseKey(status?.phase)]++;
  return summary;
}

function phaseKey(phase: NonNullable<Task['status']>['phase']) {
  switch (phase) {
    case 'Claimed':
      return 'claimed';
    case 'Running':
      return 'running';
    case 'Blocked':
      return 'blocked';
    case 'Succeeded':
      return 'succeeded';
    case 'Failed':
      return 'failed';
    case 'Pending':
    case undefined:
      return 'pending';
  }
}

export interface Seen {
  readonly wanted: number;
  readonly agents: readonly Agent[];
  readonly hold?: Hold | undefined;
}

/** Ready only if every agent is; otherwise it names the one that stands in the way, and why. Agents on their way out do not count. */
export function readyCondition({ spec }: Team, { wanted, agents, hold }: Seen): ConditionInput {
  const type = 'Ready';
  if (hold) return { type, status: 'False', ...hold };
  if (spec.suspend) return { type, status: 'False', reason: 'Suspended', message: 'spec.suspend is true' };
  const members = agents.filter((agent) => !isDraining(agent));
  const waiting = members.find((agent) => !isReady(agent));
  if (waiting) {
    const { reason = 'Starting', message = 'has not reported yet' } = notReady(waiting) ?? {};
    return { type, status: 'False', reason, message: `agent ${waiting.metadata.name}: ${message || reason}` };
  }
  if (members.length < wanted) return { type, status: 'False', reason: 'Creating', message: `${members.length} of ${wanted} agents exist` };
  return { type, status: 'True', reason: 'AgentsReady', message: `${members.length} of ${wanted} agents are ready` };
}

/** What was seen of an older spec says nothing about this one. */
function isReady(agent: Agent): boolean {
  const observed = agent.status?.observedGeneration;
  return isTrue(agent, 'Ready') && !(observed !== undefined && observed < agent.metadata.generation);
}

function notReady(agent: Agent): { reason: string; message: string } | undefined {
  if (!isTrue(agent, 'Ready')) return getCondition(agent, 'Ready');
  return { reason: 'Updating', message: 'has a changed spec that it does not follow yet' };
}

export interface Work {
  readonly tasks: NonNullable<Status['taskSummary']>;
  readonly isMerging: boolean;
}

export function phaseOf(ready: ConditionInput, { tasks, isMerging }: Work): NonNullable<Status['phase']> {
  const { total = 0, claimed = 0, running = 0, succeeded = 0, failed = 0 } = tasks;
  if (claimed + running > 0) return 'Working';
  if (isMerging && total > 0 && succeeded + failed === total) return 'Completing';
  return ready.status === 'True' ? 'Ready' : 'Creating';
}

/** A merge whose end is still to come. */
export function isOpen({ status }: Merge): boolean {
  return !['Merged', 'Conflicted', 'Failed'].includes(status?.phase ?? '');
}
