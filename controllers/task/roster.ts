/** Who may do a task, and who can right now. Pure. */
import { DRAINING_ANNOTATION } from '#api/team-rules.ts';
import { type Agent, shortName, type Task } from '#api/types.ts';
import { getCondition, isTrue } from '#runtime/conditions.ts';

/** Set before a daemon that stops ends its workspaces. */
const DAEMON_STOPPED = 'DaemonStopped';

/** What a task asks of the agent that does it. */
export type Demand = Pick<Task['spec'], 'assignTo' | 'skills' | 'request' | 'prompt'>;

/**
 * Without `assignTo` any agent of the team will do; with it the one of that name, short or full, or all of that role. It has all the
 * skills, and nobody does what it asked others for.
 */
export function suits(agent: Agent, { assignTo, skills = [], request }: Demand): boolean {
  const { metadata, spec } = agent;
  const short = shortName(spec.team, metadata.name);
  if (assignTo !== undefined && ![metadata.name, short, spec.roleName].includes(assignTo)) return false;
  return request?.by !== short && skills.every((skill) => spec.skills?.includes(skill));
}

/** Whether the controller may give it to this agent: a prompt needs somebody who understands it, a command does not. */
export function takes(agent: Agent, demand: Demand): boolean {
  return suits(agent, demand) && (typeof demand.prompt !== 'string' || takesPrompts(agent));
}

export function takesPrompts(agent: Agent): boolean {
  return backendOf(agent) !== 'shell';
}

/** The one in use, once that is known: another may have stepped in. */
export function backendOf({ spec, status }: Agent): string {
  return status?.backend ?? spec.backend;
}

export function isReady(agent: Agent): boolean {
  const { phase } = agent.status ?? {};
  if (agent.metadata.deletionTimestamp !== undefined || isHeldBack(agent) || isStoppedWithDaemon(agent)) return false;
  return (phase === 'Ready' || phase === 'Working') && isTrue(agent, 'Ready');
}

/** Its team, or a person, wants it to get no more work, or not before its next run. */
function isHeldBack(agent: Agent): boolean {
  const { metadata, spec } = agent;
  if (spec.desiredState !== 'Running' || metadata.annotations?.[DRAINING_ANNOTATION] !== undefined) return true;
  return isTrue(agent, 'ReplacePending') || isTrue(agent, 'RestorePending');
}

/** Gone, or stopped for good; an agent that a stopping daemon took with it comes back. */
export function isLeaving(agent: Agent): boolean {
  if (agent.metadata.deletionTimestamp !== undefined) return true;
  return agent.status?.phase === 'Stopped' && !isStoppedWithDaemon(agent);
}

/** It may bring to an end what it has begun, for as long as its grace period lasts, and begins nothing. */
export function isStopping(agent: Agent): boolean {
  return agent.status?.phase === 'Stopping' && !isStoppedWithDaemon(agent);
}

export function isStoppedWithDaemon(agent: Agent): boolean {
  return getCondition(agent, 'WorkspaceReady')?.reason === DAEMON_STOPPED;
}

/** Its workspace has ended, and the next run waits for its turn. */
function hasExited(agent: Agent): boolean {
  return getCondition(agent, 'WorkspaceReady')?.reason === 'Exited';
}

/** Whether that run of the agent may still be at work. */
export function isAlive(agent: Agent | undefined, incarnation: string | undefined): boolean {
  if (!agent || agent.status?.incarnation !== incarnation || isStoppedWithDaemon(agent) || hasExited(agent)) return false;
  return agent.status?.phase !== 'Stopped' && agent.status?.phase !== 'Failed';
}

/** It stands still with what it does in its memory, and goes on with it: what the agent controller says of a workspace that is silent and lives. */
export function isHeldUp(agent: Agent): boolean {
  return getCondition(agent, 'Ready')?.reason === 'HeldUp';
}

/** Changes of an agent that the tasks it holds must hear of. */
export function isSameRun(a: Agent, b: Agent): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    a.status?.incarnation === b.status?.incarnation &&
    a.status?.phase === b.status?.phase &&
    hasExited(a) === hasExited(b) &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp
  );
}

/** Changes of an agent that waiting tasks must hear of. */
export function isSameOffer(a: Agent, b: Agent): boolean {
  if (isReady(a) !== isReady(b) || a.spec.maxConcurrentTasks !== b.spec.maxConcurrentTasks || backendOf(a) !== backendOf(b)) return false;
  if (fundsOf(a) !== fundsOf(b)) return false;
  return a.spec.roleName === b.spec.roleName && (a.spec.skills ?? []).join('\n') === (b.spec.skills ?? []).join('\n');
}

/** What of its own budget it may still use. */
function fundsOf({ spec, status }: Agent): string {
  return spec.budget === undefined ? '' : JSON.stringify([spec.budget, status?.spending?.remaining]);
}
