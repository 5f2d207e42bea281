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
  /** Whether the agent runs now; its status may be from before a restart. */
  readonly isLive: (agent: Agent) => boolean;
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
  if (leadsIntoCycle(task, tasks, { path: [], cleared: new Set() })) return { step: 'block', reason: 'DependencyCycle', blockedBy };
  const isHopeless = open.some(({ found }) => found?.status?.phase === 'Failed' || found?.status?.reason === 'DependencyFailed');
  return { step: 'block', reason: isHopeless ? 'DependencyFailed' : 'DependenciesPending', blockedBy };
}

interface Walk {
  /** How we came here: meeting one of them again is a circle. */
  readonly path: readonly string[];
  /** Known to lead into none, so that each task is walked once. */
  readonly cleared: Set<string>;
}

/** Circles that begin further down count as well: they will never succeed. */
function leadsIntoCycle(task: Task, tasks: readonly Task[], { path, cleared }: Walk): boolean {
  const { name } = task.metadata;
  if (path.includes(name)) return true;
  if (cleared.has(name) || task.status?.phase === 'Succeeded') return false;
  const next = { path: [...path, name], cleared };
  const isCircle = (task.spec.dependsOn ?? []).some((dependency) => {
    const found = tasks.find((other) => isCalled(other, dependency));
    return found !== undefined && leadsIntoCycle(found, tasks, next);
  });
  if (!isCircle) cleared.add(name);
  return isCircle;
}

function assignment(task: Task, board: Board): Decision {
  const { assignTo, team } = task.spec;
  const suitable = board.agents.filter((agent) => suits(agent, task));
  if (suitable.length === 0) {
    const message =
      assignTo === undefined ? `team ${team} has no agents, or does not exist` : `team ${team} has no agent or role ${assignTo}`;
    return { step: 'wait', reason: 'NoAgent', message };
  }
  const ready = suitable.filter((agent) => isTrue(agent, 'Ready') && board.isLive(agent));
  if (ready.length === 0) {
    return { step: 'wait', reason: 'AgentNotReady', message: `no suitable agent is ready: ${suitable.map(nameOf).join(', ')}` };
  }
  const slots = ready.map((agent) => ({ agent, free: agent.spec.maxConcurrentTasks - heldBy(agent, board.tasks) }));
  const best = slots.filter(({ free }) => free > 0).sort((a, b) => b.free - a.free)[0];
  if (!best) {
    return { step: 'wait', reason: 'AgentsBusy', message: `every suitable agent has its hands full: ${ready.map(nameOf).join(', ')}` };
  }
  const places = slots.reduce((sum, { free }) => sum + Math.max(0, free), 0);
  const ahead = board.tasks.filter(
    (other) => goesFirst(other, task) && isWaiting(other, board.tasks) && ready.some((agent) => suits(agent, other)),
  );
  if (ahead.length < places) return { step: 'assign', agent: best.agent };
  return { step: 'wait', reason: 'Queued', message: `others go first: ${ahead.map(({ metadata }) => metadata.name).join(', ')}` };
}

function heldBy(agent: Agent, tasks: readonly Task[]): number {
  return tasks.filter((task) => task.status?.owner === nameOf(agent) && isHeld(task)).length;
}

/** Could start now; one that waits out its back-off takes nobody's place. */
function isWaiting(task: Task, tasks: readonly Task[]): boolean {
  if (isHeld(task) || isFinished(task) || task.metadata.deletionTimestamp !== undefined) return false;
  return task.status?.reason !== 'AttemptFailed' && !task.spec.cancelled && blocked(task, tasks) === undefined;
}

/** By priority, then age, then name. */
function goesFirst(a: Task, b: Task): boolean {
  if (a.metadata.name === b.metadata.name) return false;
  const order = [a.spec.priority - b.spec.priority, compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp)];
  const decisive = order.find((difference) => difference !== 0) ?? compare(a.metadata.name, b.metadata.name);
  return decisive < 0;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function suits(agent: Agent, { spec: { assignTo, team } }: Task): boolean {
  return assignTo === undefined || isAssignee(agent, team, assignTo);
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
