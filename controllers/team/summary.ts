/** A Team's status from its members and tasks. Pure. */
import type { Agent, Task, Team } from '#api/types.ts';
import { shortName } from '#api/types.ts';
import { type ConditionInput, getCondition, isTrue } from '#runtime/conditions.ts';

type Status = NonNullable<Team['status']>;

export function membersOf(team: Team, agents: readonly Agent[]): NonNullable<Status['members']> {
  return agents.map(({ metadata, spec, status }) => ({
    name: shortName(team.metadata.name, metadata.name),
    ...(spec.roleName === undefined ? {} : { role: spec.roleName }),
    phase: status?.phase ?? 'Pending',
    ...(status?.isolation?.driver === undefined ? {} : { isolation: status.isolation.driver }),
    ...(status?.workspaceId === undefined ? {} : { workspaceId: status.workspaceId }),
    ...(status?.incarnation === undefined ? {} : { incarnation: status.incarnation }),
  }));
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

/** Ready only if every agent is; otherwise it names the one that stands in the way, and why. */
export function readyCondition(wanted: number, agents: readonly Agent[]): ConditionInput {
  const type = 'Ready';
  const waiting = agents.find((agent) => !isTrue(agent, 'Ready'));
  if (waiting) {
    const { reason = 'Starting', message = 'has not reported yet' } = getCondition(waiting, 'Ready') ?? {};
    return { type, status: 'False', reason, message: `agent ${waiting.metadata.name}: ${message || reason}` };
  }
  if (agents.length < wanted) return { type, status: 'False', reason: 'Creating', message: `${agents.length} of ${wanted} agents exist` };
  return { type, status: 'True', reason: 'AgentsReady', message: `${agents.length} of ${wanted} agents are ready` };
}

export function phaseOf(ready: ConditionInput, tasks: NonNullable<Status['taskSummary']>): NonNullable<Status['phase']> {
  if ((tasks.claimed ?? 0) + (tasks.running ?? 0) > 0) return 'Working';
  return ready.status === 'True' ? 'Ready' : 'Creating';
}
