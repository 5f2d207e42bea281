/** Who may do a task, and who can right now. Pure. */
import { DRAINING_ANNOTATION } from '#api/team-rules.ts';
import { type Agent, shortName } from '#api/types.ts';
import { getCondition, isTrue } from '#runtime/conditions.ts';

/** Set before a daemon that stops ends its workspaces. */
const DAEMON_STOPPED = 'DaemonStopped';

/** Without `assignTo` any agent of the team will do; with it the one of that name, short or full, or all of that role. */
export function suits({ metadata, spec }: Agent, assignTo: string | undefined): boolean {
  if (assignTo === undefined) return true;
  return metadata.name === assignTo || shortName(spec.team, metadata.name) === assignTo || spec.roleName === assignTo;
}

export function isReady(agent: Agent): boolean {
  const { phase } = agent.status ?? {};
  if (agent.metadata.deletionTimestamp !== undefined || isHeldBack(agent) || isStoppedWithDaemon(agent)) return false;
  return (phase === 'Ready' || phase === 'Working') && isTrue(agent, 'Ready');
}

/** Its team, or a person, wants it to get no more work. */
function isHeldBack({ metadata, spec }: Agent): boolean {
  return spec.desiredState !== 'Running' || metadata.annotations?.[DRAINING_ANNOTATION] !== undefined;
}

/** Stopped for good, or on the way there; an agent that a stopping daemon took with it comes back. */
export function isLeaving(agent: Agent): boolean {
  const { phase } = agent.status ?? {};
  if (agent.metadata.deletionTimestamp !== undefined) return true;
  return (phase === 'Stopped' || phase === 'Stopping') && !isStoppedWithDaemon(agent);
}

export function isStoppedWithDaemon(agent: Agent): boolean {
  return getCondition(agent, 'WorkspaceReady')?.reason === DAEMON_STOPPED;
}

/** Whether that run of the agent may still be at work. */
export function isAlive(agent: Agent | undefined, incarnation: string | undefined): boolean {
  if (!agent || agent.status?.incarnation !== incarnation || isStoppedWithDaemon(agent)) return false;
  return agent.status?.phase !== 'Stopped' && agent.status?.phase !== 'Failed';
}

/** Changes of an agent that the tasks it holds must hear of. */
export function isSameRun(a: Agent, b: Agent): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    a.status?.incarnation === b.status?.incarnation &&
    a.status?.phase === b.status?.phase &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp
  );
}

/** Changes of an agent that waiting tasks must hear of. */
export function isSameOffer(a: Agent, b: Agent): boolean {
  return isReady(a) === isReady(b) && a.spec.maxConcurrentTasks === b.spec.maxConcurrentTasks && a.spec.roleName === b.spec.roleName;
}
