/** Rules between objects, as far as what is stored can say: asked by the store after an object's own rules. */
import { ConflictError, type FieldProblem, InvalidError } from '#lib/errors.ts';
import { controllerOf, type KindObject, type ObjectKey } from './meta.ts';
import { agentNamesOf, budgetProblems, ownAgents, reservedIn, spentOn } from './team-budget.ts';
import { depthProblem, type Lineage, lineageOf, policyProblems } from './team-rules.ts';
import type { Agent, Team } from './types.ts';
import { invalidObject } from './validate.ts';

/** The objects that are durable and visible. Writes on their way are not among them: controllers have the last word. */
export interface StoredObjects {
  get(key: ObjectKey): KindObject | undefined;
  list(kind: string, query: { readonly namespace: string; readonly fieldSelector: string }): { readonly items: readonly KindObject[] };
}

/** Only what a write changes is judged: nobody is refused a change for what others have become. */
export function checkRelations(object: KindObject, old: KindObject | undefined, stored: StoredObjects): void {
  if (object.kind === 'Team' && object.spec !== old?.spec) checkTeam(object as Team, old as Team | undefined, stored);
  if (object.kind === 'Agent' && !old) checkNewAgent(object as Agent, stored);
}

function checkTeam(team: Team, old: Team | undefined, stored: StoredObjects): void {
  const { namespace } = team.metadata;
  const lineage = lineageOf(team, (name) => stored.get({ kind: 'Team', namespace, name }) as Team | undefined);
  const [parent] = lineage.ancestors;
  if (!old && parent?.metadata.deletionTimestamp !== undefined) {
    throw new ConflictError(`Team ${team.metadata.name}: its parent ${parent.metadata.name} is being deleted; name another or wait`, {
      reason: 'ParentTerminating',
    });
  }
  const ofDepth = old ? [] : depthProblems(lineage);
  if (ofDepth.length > 0) throw refusal(team, ofDepth, 'DepthExceeded');
  const ofBudget = old ? budgetProblems(team, old) : [];
  if (ofBudget.length > 0) throw refusal(team, ofBudget, 'QuotaExceeded');
  const ofPolicy = policyProblems(team, old, lineage.ancestors);
  if (ofPolicy.length > 0) throw invalidObject(team, 'Team', ofPolicy);
}

function depthProblems(lineage: Lineage): FieldProblem[] {
  const problem = depthProblem(lineage);
  if (problem === undefined) return [];
  return [{ path: 'spec.parent', segments: ['spec', 'parent'], kind: 'Forbidden', message: `Forbidden: ${problem}` }];
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
  const message = `Forbidden: budget.maxAgents of team ${team.metadata.name} is ${maxAgents}: ${spentOn(team, own)}`;
  throw refusal(agent, [{ path: 'spec.team', segments: ['spec', 'team'], kind: 'Forbidden', message }], 'QuotaExceeded');
}

function refusal(object: KindObject, problems: readonly FieldProblem[], reason: string): InvalidError {
  const { message, fields } = invalidObject(object, object.kind, problems);
  return new InvalidError(message, fields, { reason });
}
