/**
 * Rules between objects that hold whoever writes: asked by the store after an object's own rules. Most of what depends on others is not
 * here but at the front door (front-door.ts), because files may be stored in any order.
 */
import { type FieldProblem, InvalidError } from '#lib/errors.ts';
import { invalidObject } from './invalid-object.ts';
import { controllerOf, type KindObject, type ObjectKey } from './meta.ts';
import { sameShortName } from './names-taken.ts';
import { agentNamesOf, budgetProblems, ownAgents, reservedIn, spentOn } from './team-budget.ts';
import { lineageOf, policyProblems } from './team-rules.ts';
import type { Agent, Task, Team } from './types.ts';

/** The objects that are durable and visible. Writes on their way are not among them: controllers have the last word. */
export interface StoredObjects {
  get(key: ObjectKey): KindObject | undefined;
  list(kind: string, query: { readonly namespace?: string; readonly fieldSelector?: string }): { readonly items: readonly KindObject[] };
}

/** Only what a write changes is judged: nobody is refused a change for what others have become. */
export function checkRelations(object: KindObject, old: KindObject | undefined, stored: StoredObjects): void {
  if (object.kind === 'Team' && object.spec !== old?.spec) checkTeam(object as Team, old as Team | undefined, stored);
  if ((object.kind === 'Agent' || object.kind === 'Task') && !old) checkShortName(object as Agent | Task, stored);
  if (object.kind === 'Agent' && !old) checkNewAgent(object as Agent, stored);
}

/** Who says `coder` means one: the others would never hear of it. */
function checkShortName(object: Agent | Task, stored: StoredObjects): void {
  const problems = sameShortName(object, stored);
  if (problems.length > 0) throw refusal(object, problems, 'AmbiguousName');
}

function checkTeam(team: Team, old: Team | undefined, stored: StoredObjects): void {
  const { namespace } = team.metadata;
  const lineage = lineageOf(team, (name) => stored.get({ kind: 'Team', namespace, name }) as Team | undefined);
  const ofBudget = old ? budgetProblems(team, old) : [];
  if (ofBudget.length > 0) throw refusal(team, ofBudget, 'QuotaExceeded');
  // Below one that goes there is no place, whatever it allows; that is said elsewhere.
  const isParentLeaving = lineage.ancestors[0]?.metadata.deletionTimestamp !== undefined;
  const ofPolicy = isParentLeaving ? [] : policyProblems(team, old, lineage.ancestors);
  if (ofPolicy.length > 0) throw invalidObject(team, 'Team', ofPolicy);
}

/** One made by hand joins its team inside the budget. What a team makes for itself it has counted. */
function checkNewAgent(agent: Agent, stored: StoredObjects): void {
  const { namespace, name } = agent.metadata;
  if (controllerOf(agent)?.kind === 'Team') return;
  const team = stored.get({ kind: 'Team', namespace, name: agent.spec.team }) as Team | undefined;
  if (!team || agentNamesOf(team).includes(name)) return;
  const { items } = stored.list('Agent', { namespace, fieldSelector: `spec.team=${agent.spec.team}` });
  const own = ownAgents(
    team,
    items.map(({ metadata }) => metadata.name),
  );
  const { maxAgents } = team.spec.budget;
  if (own + 1 + reservedIn(team) <= maxAgents) return;
  const message = `Forbidden: budget.maxAgents of team ${team.metadata.name} is ${maxAgents}: ${spentOn(team, own)} (QuotaExceeded)`;
  throw refusal(agent, [{ path: 'spec.team', segments: ['spec', 'team'], kind: 'Forbidden', message }], 'QuotaExceeded');
}

function refusal(object: KindObject, problems: readonly FieldProblem[], reason: string): InvalidError {
  const { message, fields } = invalidObject(object, object.kind, problems);
  return new InvalidError(message, fields, { reason });
}
