/** A team as tools tell it: how it is, who is in it, what is done and what may still be made. Pure. */
import type { Agent, Team } from '#api/types.ts';
import { shortName } from '#api/types.ts';
import { count, list, object, type Parsed, text } from '#protocol/shape.ts';

export const conditionAnswer = object({ type: text, status: text, reason: text, message: text }, { since: text });

export const memberAnswer = object(
  { name: text, full_name: text, phase: text },
  {
    role: text,
    workspace_id: text,
    incarnation: text,
    ip: text,
    isolation: text,
    messages_pending: count,
    reason: text,
    memory_bytes: count,
    cpu_millicores: count,
  },
);

export const teamAnswer = object(
  {
    name: text,
    namespace: text,
    phase: text,
    created_at: text,
    agents: list(memberAnswer),
    tasks: object({ total: count, pending: count, claimed: count, running: count, blocked: count, succeeded: count, failed: count }),
    budget: object({ max_agents: count, used: count, reserved: count, remaining: count }),
    conditions: list(conditionAnswer),
  },
  { parent: text, description: text, messages_pending: count },
);

export interface Use {
  readonly memory_bytes?: number;
  readonly cpu_millicores?: number;
}

/** `uses`: by full name of the agent. */
export function toTeamAnswer(team: Team, agents: readonly Agent[], uses: ReadonlyMap<string, Use> = new Map()): Parsed<typeof teamAnswer> {
  const { metadata, spec, status = {} } = team;
  const { taskSummary = {}, budget = {}, messagesPending } = status;
  const { total = 0, pending = 0, claimed = 0, running = 0, blocked = 0, succeeded = 0, failed = 0 } = taskSummary;
  const { used = 0, reserved = 0, remaining = spec.budget.maxAgents } = budget;
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    phase: phaseOf(team),
    created_at: metadata.creationTimestamp,
    ...(spec.parent ? { parent: spec.parent } : {}),
    ...(spec.description ? { description: spec.description } : {}),
    agents: agents.map((agent) => ({ ...toMember(agent), ...uses.get(agent.metadata.name) })),
    tasks: { total, pending, claimed, running, blocked, succeeded, failed },
    budget: { max_agents: spec.budget.maxAgents, used, reserved, remaining },
    conditions: toConditions(status.conditions),
    ...(messagesPending === undefined ? {} : { messages_pending: messagesPending }),
  };
}

/** Until its controller has looked, a team is being made. */
export function phaseOf({ metadata, status }: Team): string {
  return metadata.deletionTimestamp === undefined ? (status?.phase ?? 'Creating') : 'Terminating';
}

type Conditions = NonNullable<Agent['status']>['conditions'];

export function toConditions(conditions: Conditions = []): Parsed<typeof conditionAnswer>[] {
  return conditions.map(({ type, status, reason, message, lastTransitionTime }) => ({
    type,
    status,
    reason,
    message: message ?? '',
    ...(lastTransitionTime ? { since: lastTransitionTime } : {}),
  }));
}

function toMember({ metadata, spec, status = {} }: Agent): Parsed<typeof memberAnswer> {
  const { workspaceId, incarnation, ip, isolation, messagesPending } = status;
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  const reason = ready?.status === 'False' ? [ready.reason, ready.message].filter(Boolean).join(': ') : undefined;
  return {
    name: shortName(spec.team, metadata.name),
    full_name: metadata.name,
    phase: status.phase ?? 'Pending',
    ...given({
      role: spec.roleName,
      workspace_id: workspaceId,
      incarnation,
      ip,
      isolation: isolation?.driver,
      messages_pending: messagesPending,
      reason,
    }),
  };
}

type Given<T> = { [K in keyof T]?: NonNullable<T[K]> };

function given<T extends Record<string, unknown>>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)) as Given<T>;
}
