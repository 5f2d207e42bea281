/**
 * What an agent may write into a Task. Any agent may ask its team for help; only the lead hands work to somebody, has commands run,
 * and changes Tasks that are there.
 */
import type { KindObject } from '#api/meta.ts';
import { equalJson, isObject } from '#lib/json.ts';
import type { AgentIdentity } from './identity.ts';
import { isLead } from './rules.ts';
import { isOfTeam } from './visibility.ts';

const LEAD_FIELDS = ['assignTo', 'command', 'verify'];

/** Why an agent may not store `task`, where `stored` is now; undefined when it may. */
export function taskProblem(agent: AgentIdentity, task: KindObject, stored?: KindObject): string | undefined {
  if (task.kind !== 'Task' || !isOfTeam(agent, task)) return `an agent writes only Tasks of its own team ${agent.namespace}/${agent.team}`;
  // They decide when other objects may go away, the team's among them.
  for (const field of ['finalizers', 'ownerReferences'] as const) {
    if (!equalJson(task.metadata[field] ?? [], stored?.metadata[field] ?? [])) return `an agent may not set metadata.${field}`;
  }
  return stored === undefined ? newTaskProblem(agent, task) : undefined;
}

function newTaskProblem({ team, name }: AgentIdentity, { metadata, spec }: KindObject): string | undefined {
  // A free name could be the one that another team's next Task must have.
  if (!(metadata.name || metadata.generateName || '').startsWith(`${team}-`))
    return `the name of a Task that an agent creates starts with ${team}-`;
  if (isLead(name) || !isObject(spec)) return undefined;
  const field = LEAD_FIELDS.find((lead) => !isEmpty(spec[lead]));
  return field && `only the lead of a team may set spec.${field}`;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
