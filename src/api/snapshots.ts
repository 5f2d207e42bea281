/** Rules of Snapshots, and of Agents where snapshots, running tasks and rest meet. Pure. */
import { ConflictError, type FieldProblem } from '#lib/errors.ts';
import type { KindObject } from './meta.ts';
import type { StoredObjects } from './relations.ts';
import { type Agent, type Snapshot, shortName, type Task } from './types.ts';

/** Of one agent. */
export const MAX_SNAPSHOTS = 20;

export function creationOrder(a: KindObject, b: KindObject): number {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`);
  return first === second ? 0 : (first ?? '') < (second ?? '') ? -1 : 1;
}

/** `<agent>-<name>`, as the objects of a team are `<team>-<name>`. */
export function snapshotName(agent: string, name: string): string {
  return name.startsWith(`${agent}-`) ? name : `${agent}-${name}`;
}

/** `of agent a-dev in team a` */
export function whoseSnapshot({ spec: { agent, team } }: Snapshot): string {
  return agent === undefined ? `the golden snapshot of team ${team}` : `of agent ${agent} in team ${team}`;
}

export function snapshotProblems(snapshot: Snapshot, stored: StoredObjects): FieldProblem[] {
  const { namespace, name: own } = snapshot.metadata;
  const { agent: name, team } = snapshot.spec;
  // Written by the team itself, which passes no front door.
  if (name === undefined)
    return [problem(['spec', 'golden'], 'Forbidden: a Team makes its golden snapshot itself; give agent', 'Forbidden')];
  const agent = stored.get({ kind: 'Agent', namespace, name }) as Agent | undefined;
  if (!agent) return [problem(['spec', 'agent'], notFound('agent', name, namespace), 'NotFound')];
  if (agent.spec.team !== team) {
    const message = `Invalid value: ${JSON.stringify(team)}: agent ${name} belongs to team ${agent.spec.team}`;
    return [problem(['spec', 'team'], message, 'Invalid')];
  }
  const { items } = stored.list('Snapshot', { namespace, fieldSelector: `spec.agent=${name}` });
  const others = items.filter(({ metadata }) => metadata.name !== own && metadata.deletionTimestamp === undefined);
  if (others.length < MAX_SNAPSHOTS) return [];
  const message = `Forbidden: agent ${name} has ${others.length} snapshots, at most ${MAX_SNAPSHOTS}; delete one first (QuotaExceeded)`;
  return [problem(['spec', 'agent'], message, 'Forbidden')];
}

/** What a new or changed Agent asks for that has to do with snapshots and rest. Throws Conflict for what only a running task forbids. */
export function restProblems(agent: Agent, old: Agent | undefined, stored: StoredObjects): FieldProblem[] {
  const { source, restore, desiredState } = agent.spec;
  const problems: FieldProblem[] = [];
  if (source !== undefined && old === undefined)
    problems.push(...unusable(agent, ['spec', 'source'], { of: source.agent, ...source }, stored));
  const isRestoring = restore !== undefined && restore.at !== old?.spec.restore?.at;
  if (isRestoring) problems.push(...unusable(agent, ['spec', 'restore'], { of: agent.metadata.name, ...restore }, stored));
  const isSuspending = desiredState === 'Suspended' && old?.spec.desiredState !== 'Suspended';
  if (isSuspending && driverOf(agent) === 'process') {
    const message =
      'Invalid value: "Suspended": the process driver cannot hold an agent still; give Running or Stopped, or another isolation';
    problems.push(problem(['spec', 'desiredState'], message, 'Invalid'));
  }
  if (problems.length === 0 && (isRestoring || isSuspending)) refuseAtWork(agent, isRestoring ? 'restored' : 'suspended', stored);
  return problems;
}

interface Wanted {
  readonly of: string;
  readonly snapshot: string;
}

function unusable(
  { metadata: { namespace }, spec }: Agent,
  at: readonly string[],
  { of, snapshot }: Wanted,
  stored: StoredObjects,
): FieldProblem[] {
  const found = stored.get({ kind: 'Snapshot', namespace, name: snapshot }) as Snapshot | undefined;
  const complain = (message: string, kind: FieldProblem['kind']) => [problem([...at, 'snapshot'], message, kind)];
  if (!found) return complain(notFound('snapshot', snapshot, namespace), 'NotFound');
  if (found.spec.agent !== of || found.spec.team !== spec.team)
    return complain(`Invalid value: ${JSON.stringify(snapshot)}: it is ${whoseSnapshot(found)}`, 'Invalid');
  if (found.metadata.deletionTimestamp !== undefined)
    return complain(`Invalid value: ${JSON.stringify(snapshot)}: it is being deleted`, 'Invalid');
  return [];
}

/** Its run would end, or stand still, under somebody who waits for it. */
function refuseAtWork({ metadata: { namespace, name } }: Agent, what: string, stored: StoredObjects): void {
  const { items } = stored.list('Task', { namespace, fieldSelector: `status.owner=${name}` });
  const task = (items as readonly Task[]).find(({ status }) => status?.phase === 'Claimed' || status?.phase === 'Running');
  if (task === undefined) return;
  const called = shortName(task.spec.team, task.metadata.name);
  throw new ConflictError(`Agent ${name} cannot be ${what} while it works on task ${called}; wait for it, or cancel it first`, {
    reason: 'TaskRunning',
  });
}

function driverOf({ spec, status }: Agent): string | undefined {
  return status?.isolation?.driver ?? (spec.isolation?.driver === 'auto' ? undefined : spec.isolation?.driver);
}

function notFound(what: string, name: string, namespace: string): string {
  const reason = what === 'agent' ? 'AgentNotFound' : 'SnapshotNotFound';
  return `Not found: ${JSON.stringify(name)}: there is no ${what} of that name in namespace ${namespace} (${reason})`;
}

function problem(segments: readonly string[], message: string, kind: FieldProblem['kind']): FieldProblem {
  return { path: segments.join('.'), segments, kind, message };
}
