/** An agent as tools tell it. Pure. */
import { type Agent, shortName, type Task } from '#api/types.ts';
import { count, list, object, oneOf, type Parsed, text } from '#protocol/shape.ts';
import { conditionAnswer, toConditions } from './team-answer.ts';

export const AGENT_WORDS = ['running', 'idle', 'waiting', 'starting', 'stopping', 'stopped', 'dead'] as const;
export type AgentWord = (typeof AGENT_WORDS)[number];

export const agentAnswer = object(
  {
    name: text,
    full_name: text,
    team: text,
    namespace: text,
    uid: text,
    role: text,
    skills: list(text),
    status: oneOf(...AGENT_WORDS),
    phase: text,
    current_tasks: list(text),
    messages_pending: count,
    requests_pending: count,
    restarts: count,
    conditions: list(conditionAnswer),
  },
  {
    model: text,
    backend: text,
    uptime_seconds: count,
    isolation: object({}, { driver: text, network: text, limits: text }),
    incarnation: text,
    pid: count,
    ip: text,
    last_activity: text,
    last_heartbeat: text,
    progress: text,
    rescued: text,
  },
);

export interface AgentSight {
  /** Of its team. */
  readonly tasks: readonly Task[];
  readonly now: Date;
}

export function toAgentAnswer(agent: Agent, { tasks, now }: AgentSight): Parsed<typeof agentAnswer> {
  const { metadata, spec, status = {} } = agent;
  const held = tasks.filter((task) => task.status?.owner === metadata.name && isHeld(task));
  const short = (name: string) => shortName(spec.team, name);
  return {
    name: short(metadata.name),
    full_name: metadata.name,
    team: spec.team,
    namespace: metadata.namespace,
    uid: metadata.uid,
    role: spec.role ?? spec.roleName ?? short(metadata.name),
    skills: spec.skills ?? [],
    status: wordOf(agent, held),
    phase: status.phase ?? 'Pending',
    current_tasks: held.map((task) => short(task.metadata.name)),
    messages_pending: status.messagesPending ?? status.mailbox?.unacked ?? 0,
    requests_pending: tasks.filter((task) => isAskedOf(task, agent)).length,
    restarts: status.restarts ?? 0,
    conditions: toConditions(status.conditions),
    ...moreOf(agent, now),
  };
}

function isHeld({ status }: Task): boolean {
  return status?.phase === 'Claimed' || status?.phase === 'Running';
}

/** What waits for this agent and for nobody else. */
function isAskedOf({ spec, status }: Task, { metadata }: Agent): boolean {
  const isFor = spec.assignTo === metadata.name || spec.assignTo === shortName(spec.team, metadata.name);
  return isFor && (status?.phase ?? 'Pending') === 'Pending';
}

/** Exported for its table of cases. */
export function wordOf({ metadata, status }: Agent, held: readonly Task[]): AgentWord {
  if (metadata.deletionTimestamp !== undefined) return 'stopping';
  switch (status?.phase) {
    case 'Failed':
      return 'dead';
    case 'Stopped':
      return 'stopped';
    case 'Stopping':
      return 'stopping';
    case 'Working':
      return 'running';
    case 'Ready':
    case 'Suspended':
      return heldWord(held);
    default:
      return 'starting';
  }
}

function heldWord(held: readonly Task[]): AgentWord {
  if (held.some((task) => !awaitsApproval(task))) return 'running';
  return held.length > 0 ? 'waiting' : 'idle';
}

function awaitsApproval({ spec, status }: Task): boolean {
  return spec.planRequired === true && status?.conditions?.find(({ type }) => type === 'PlanApproved')?.status !== 'True';
}

function moreOf({ spec, status = {} }: Agent, now: Date) {
  const { startedAt, incarnation, pid, ip, isolation, lastActivity, lastHeartbeat, progress, rescued, backend = spec.backend } = status;
  const runsSince = startedAt !== undefined && pid !== undefined ? now.getTime() - Date.parse(startedAt) : undefined;
  const fields = {
    model: spec.model,
    backend,
    uptime_seconds: runsSince === undefined ? undefined : Math.max(0, Math.floor(runsSince / 1_000)),
    isolation: isolation && { driver: isolation.driver ?? '', network: isolation.network ?? '', limits: isolation.limits ?? '' },
    incarnation,
    pid,
    ip,
    last_activity: lastActivity,
    last_heartbeat: lastHeartbeat,
    progress: progress?.text,
    rescued,
  };
  type Present = { [K in keyof typeof fields]?: NonNullable<(typeof fields)[K]> };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as Present;
}
