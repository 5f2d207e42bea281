/** What should happen to a Task next, from what is known of its team. Pure. */
import type { Agent, Task } from '#api/types.ts';
import { shortName } from '#api/types.ts';
import { isTrue } from '#runtime/conditions.ts';

export type Decision =
  | { readonly step: 'done' }
  | { readonly step: 'fail'; readonly reason: string; readonly message: string }
  | { readonly step: 'block'; readonly reason: string; readonly blockedBy: readonly string[] }
  | { readonly step: 'wait'; readonly reason: string; readonly message: string }
  | { readonly step: 'assign'; readonly agent: Agent };

export interface Board {
  readonly agents: readonly Agent[];
  /** All tasks of the team, this one included. */
  readonly tasks: readonly Task[];
}

export function isFinished({ status }: Task): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** For a Task that nobody holds. */
export function nextStep(task: Task, board: Board): Decision {
  if (isFinished(task)) return { step: 'done' };
  if (task.spec.cancelled) return { step: 'fail', reason: 'Cancelled', message: 'spec.cancelled is true' };
  const unsupported = unsupportedFields(task);
  if (unsupported.length > 0) {
    return {
      step: 'fail',
      reason: 'NotSupportedYet',
      message: `this version does not act on ${unsupported.join(', ')}; remove it to run the task`,
    };
  }
  return blocked(task, board.tasks) ?? assignment(task, board);
}

function blocked(task: Task, tasks: readonly Task[]): Decision | undefined {
  const dependencies = (task.spec.dependsOn ?? []).map((name) => ({ name, found: tasks.find((other) => isCalled(other, name)) }));
  const open = dependencies.filter(({ found }) => found?.status?.phase !== 'Succeeded');
  if (open.length === 0) return undefined;
  const blockedBy = open.map(({ name }) => name);
  if (open.some(({ found }) => found === undefined)) return { step: 'block', reason: 'DependencyNotFound', blockedBy };
  const isHopeless = open.some(({ found }) => found?.status?.phase === 'Failed' || found?.status?.reason === 'DependencyFailed');
  return { step: 'block', reason: isHopeless ? 'DependencyFailed' : 'DependenciesPending', blockedBy };
}

function assignment(task: Task, { agents, tasks }: Board): Decision {
  const { assignTo, team } = task.spec;
  const suitable = agents.filter((agent) => assignTo === undefined || isAssignee(agent, team, assignTo));
  if (suitable.length === 0) {
    const message = assignTo === undefined ? `team ${team} has no agents` : `team ${team} has no agent or role ${assignTo}`;
    return { step: 'wait', reason: 'NoAgent', message };
  }
  const ready = suitable.filter((agent) => isTrue(agent, 'Ready'));
  if (ready.length === 0)
    return { step: 'wait', reason: 'AgentNotReady', message: `no suitable agent is ready: ${suitable.map(nameOf).join(', ')}` };
  const free = ready
    .map((agent) => ({ agent, busy: tasks.filter((other) => other.status?.owner === nameOf(agent) && isHeld(other)).length }))
    .filter(({ agent, busy }) => busy < agent.spec.maxConcurrentTasks)
    .sort((a, b) => a.busy - b.busy)[0];
  if (!free)
    return { step: 'wait', reason: 'AgentsBusy', message: `every suitable agent has its hands full: ${ready.map(nameOf).join(', ')}` };
  return { step: 'assign', agent: free.agent };
}

export function isHeld({ status }: Task): boolean {
  return status?.phase === 'Claimed' || status?.phase === 'Running';
}

/** References accept the short or the full name. */
function isCalled(task: Task, name: string): boolean {
  return task.metadata.name === name || shortName(task.spec.team, task.metadata.name) === name;
}

function isAssignee(agent: Agent, team: string, name: string): boolean {
  return agent.metadata.name === name || shortName(team, agent.metadata.name) === name || agent.spec.roleName === name;
}

const nameOf = ({ metadata }: Agent) => metadata.name;

function unsupportedFields({ spec }: Task): string[] {
  const asked: [string, boolean][] = [
    ['spec.prompt', typeof spec.prompt === 'string'],
    ['spec.verify', (spec.verify ?? []).length > 0],
    ['spec.planRequired', spec.planRequired],
  ];
  return asked.filter(([, isAsked]) => isAsked).map(([field]) => field);
}
