/**
 * What is asked of a write where a person or program waits for the answer, and depends on other objects: does what it names exist, is there
 * room for it, would tasks wait for each other. Files that are followed come another way, in any order; there controllers say it in
 * conditions. Nothing here is a promise: two writes at one moment may both pass, and controllers have the last word.
 */
import { ConflictError, type FieldProblem, InvalidError } from '#lib/errors.ts';
import { formatPath } from '#lib/json.ts';
import { Assignees } from './assignees.ts';
import { fleetProblems, type Size, sizeOf, teamCapProblems } from './fleet.ts';
import { invalidObject } from './invalid-object.ts';
import { type KnownModels, type ModelChoice, whyUnknownModel } from './known-models.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { controllerOf, type KindObject } from './meta.ts';
import { nameTakenProblems } from './names-taken.ts';
import type { StoredObjects } from './relations.ts';
import { restProblems, snapshotProblems } from './snapshots.ts';
import { dependencyFindings } from './task-dependencies.ts';
import { ownAgents } from './team-budget.ts';
import { roomProblems } from './team-room.ts';
import { depthProblem, type Lineage, lineageOf } from './team-rules.ts';
import type { Agent, Snapshot, Task, Team } from './types.ts';

export interface Asked {
  readonly object: KindObject;
  /** As it is stored. */
  readonly old: KindObject | undefined;
}

export interface FrontDoorOptions {
  readonly limits?: Limits;
  /** Which models providers have, where that is known. */
  readonly models?: KnownModels;
  /** Does any stored task name this one as a dependency? Without an answer the way round is looked for each time. */
  readonly hasDependents?: (task: Task) => boolean;
  /**
   * What the write names may come with others of its set, which are looked at as a whole elsewhere: only the limits of the machine are
   * asked for here.
   */
  readonly isPartOfSet?: boolean;
}

/** What is only to be warned of; throws what is refused. `object` was admitted by its kind. */
export function checkAtFrontDoor({ object, old }: Asked, stored: StoredObjects, options: FrontDoorOptions = {}): string[] {
  if (object.spec === old?.spec || object.metadata.deletionTimestamp !== undefined) return [];
  const { problems, warnings } = relationFindings({ object, old }, stored, options);
  if (problems.length > 0) throw refusal(object, problems);
  return warnings;
}

export interface Findings {
  readonly problems: readonly FieldProblem[];
  readonly warnings: string[];
}

const NOTHING: Findings = { problems: [], warnings: [] };

/** All that is wrong between this object and the others; throws only for what is wrong at the moment, as a parent that goes. */
export function relationFindings({ object, old }: Asked, stored: StoredObjects, options: FrontDoorOptions = {}): Findings {
  switch (object.kind) {
    case 'Team':
      return { problems: teamFindings(object as Team, old as Team | undefined, { stored, ...options }), warnings: [] };
    case 'Agent':
      return { problems: agentFindings(object as Agent, old as Agent | undefined, { stored, ...options }), warnings: [] };
    case 'Snapshot':
      return options.isPartOfSet || old ? NOTHING : { problems: snapshotProblems(object as Snapshot, stored), warnings: [] };
    case 'Task':
      return options.isPartOfSet ? NOTHING : taskFindings(object as Task, old as Task | undefined, { stored, ...options });
    default:
      return NOTHING;
  }
}

interface Surroundings extends FrontDoorOptions {
  readonly stored: StoredObjects;
}

function teamFindings(team: Team, old: Team | undefined, around: Surroundings): FieldProblem[] {
  const { stored, isPartOfSet, limits } = around;
  const ofQuota = [...quotaProblems(team, old, around), ...roleModelProblems(team, old, around)];
  if (isPartOfSet) return ofQuota;
  const { namespace } = team.metadata;
  const lineage = lineageOf(team, (name) => stored.get({ kind: 'Team', namespace, name }) as Team | undefined);
  const ofParent = old ? [] : parentProblems(team, lineage, limits);
  if (ofParent.length > 0) return ofParent;
  return [
    ...ofQuota,
    ...roomBelow(team, old, lineage, stored),
    ...nameTakenProblems(team, old, stored),
    ...teamTaskProblems(team, old, stored),
  ];
}

function parentProblems(team: Team, lineage: Lineage, limits: Limits = DEFAULT_LIMITS): FieldProblem[] {
  const { parent } = team.spec;
  if (lineage.missing !== undefined && lineage.missing === parent) {
    const message = `Not found: ${JSON.stringify(parent)}: there is no team of that name in namespace ${team.metadata.namespace}; create it first, or leave parent out (ParentNotFound)`;
    return [problem(['spec', 'parent'], message, 'NotFound')];
  }
  const [above] = lineage.ancestors;
  if (above?.metadata.deletionTimestamp !== undefined) {
    throw new ConflictError(`Team ${team.metadata.name}: its parent ${above.metadata.name} is being deleted; name another or wait`, {
      reason: 'ParentTerminating',
    });
  }
  const tooDeep = depthProblem(lineage, limits.maxNestingDepth);
  return tooDeep === undefined ? [] : [problem(['spec', 'parent'], `Forbidden: ${tooDeep} (DepthExceeded)`, 'Forbidden')];
}

function roomBelow(team: Team, old: Team | undefined, { ancestors }: Lineage, stored: StoredObjects): FieldProblem[] {
  const [parent] = ancestors;
  if (!parent) return [];
  const { namespace, name } = parent.metadata;
  const children = stored.list('Team', { namespace, fieldSelector: `spec.parent=${name}` }).items as readonly Team[];
  const siblings = children.filter(({ metadata }) => metadata.name !== team.metadata.name);
  return roomProblems(team, old, { ancestors, siblings, parentAgents: agentNamesIn(stored, parent) });
}

/** Only tasks of the list that are new or go to somebody else. */
function teamTaskProblems(team: Team, old: Team | undefined, stored: StoredObjects): FieldProblem[] {
  if (team.spec.tasks === old?.spec.tasks) return [];
  const before = new Map((old?.spec.tasks ?? []).map(({ name, assignTo }) => [name, assignTo]));
  const assignees = new Assignees(team, stored);
  return (team.spec.tasks ?? []).flatMap(({ name, assignTo }, index) => {
    if (assignTo === undefined || before.get(name) === assignTo || assignees.has(assignTo)) return [];
    return [problem(['spec', 'tasks', index, 'assignTo'], assignees.complaint(assignTo), 'NotFound')];
  });
}

function agentFindings(agent: Agent, old: Agent | undefined, around: Surroundings): FieldProblem[] {
  const { stored, limits = DEFAULT_LIMITS, isPartOfSet } = around;
  const { namespace } = agent.metadata;
  const ofRest = isPartOfSet ? [] : restProblems(agent, old, stored);
  if (ofRest.length > 0 || controllerOf(agent)?.kind === 'Team') return ofRest;
  const ofModel = old && isSameChoice(agent.spec, old.spec) ? [] : modelProblems(agent.spec, ['spec', 'model'], around);
  if (old) return ofModel;
  const team = stored.get({ kind: 'Team', namespace, name: agent.spec.team }) as Team | undefined;
  if (!team) return isPartOfSet ? ofModel : [unknownTeam(agent)];
  const names = agentNamesIn(stored, team);
  const own = ownAgents(team, names);
  const wanted = ownAgents(team, [...names, agent.metadata.name]);
  const segments = ['spec', 'team'];
  const before = fleetIn(stored);
  const { memoryMiB } = agent.spec.resources;
  const after = { agents: before.agents + wanted - own, memoryMiB: before.memoryMiB + (wanted > own ? memoryMiB : 0) };
  return [...ofModel, ...teamCapProblems(own, wanted, limits, segments), ...fleetProblems(before, after, limits, segments)];
}

/** Only of roles that are new or have another model. */
function roleModelProblems(team: Team, old: Team | undefined, around: Surroundings): FieldProblem[] {
  if (team.spec.roles === old?.spec.roles) return [];
  const before = new Map((old?.spec.roles ?? []).map((role) => [role.name, role]));
  return team.spec.roles.flatMap((role, index) => {
    const known = before.get(role.name);
    return known && isSameChoice(role, known) ? [] : modelProblems(role, ['spec', 'roles', index, 'model'], around);
  });
}

/** What was taken before a list was written down is not refused with every other change. */
function isSameChoice(a: ModelChoice, b: ModelChoice): boolean {
  return a.backend === b.backend && a.provider === b.provider && a.model === b.model;
}

function modelProblems(choice: ModelChoice, segments: readonly (string | number)[], { models }: Surroundings): FieldProblem[] {
  const why = models && whyUnknownModel(choice, models);
  return why === undefined ? [] : [problem(segments, `Invalid value: ${why}`, 'Invalid')];
}

function unknownTeam({ metadata, spec }: Agent): FieldProblem {
  const message = `Not found: ${JSON.stringify(spec.team)}: there is no team of that name in namespace ${metadata.namespace}; create it first (TeamNotFound)`;
  return problem(['spec', 'team'], message, 'NotFound');
}

function taskFindings(task: Task, old: Task | undefined, { stored, hasDependents = () => true }: Surroundings): Findings {
  const { assignTo, dependsOn } = task.spec;
  const ofDependencies = dependsOn === old?.spec.dependsOn ? NOTHING : dependencyFindings(task, stored, hasDependents(task));
  if (assignTo === undefined || assignTo === old?.spec.assignTo) return ofDependencies;
  const team = stored.get({ kind: 'Team', namespace: task.metadata.namespace, name: task.spec.team }) as Team | undefined;
  const assignees = team && new Assignees(team, stored);
  if (!assignees || assignees.has(assignTo)) return ofDependencies;
  const { problems, warnings } = ofDependencies;
  return { problems: [problem(['spec', 'assignTo'], assignees.complaint(assignTo), 'NotFound'), ...problems], warnings };
}

/** Of the limits that hold for the machine and for any one team. */
function quotaProblems(team: Team, old: Team | undefined, { stored, limits = DEFAULT_LIMITS }: Surroundings): FieldProblem[] {
  if (isSameDemand(team, old)) return [];
  const segments = ['spec', 'roles'];
  const names = agentNamesIn(stored, team);
  const used = old ? ownAgents(old, names) : names.length;
  const before = fleetIn(stored);
  const after = fleetIn(stored, team);
  return [...teamCapProblems(used, ownAgents(team, names), limits, segments), ...fleetProblems(before, after, limits, segments)];
}

function isSameDemand(team: Team, old: Team | undefined): boolean {
  if (team.spec.roles === old?.spec.roles) return true;
  const demand = ({ spec }: Team) => JSON.stringify(spec.roles.map(({ name, count, resources }) => [name, count, resources.memoryMiB]));
  return old !== undefined && demand(team) === demand(old);
}

/** With one of the teams as it would be. */
function fleetIn(stored: StoredObjects, changed?: Team): Size {
  const teams = stored.list('Team', {}).items as readonly Team[];
  const agents = stored.list('Agent', {}).items as readonly Agent[];
  const isOther = ({ metadata }: Team) => metadata.name !== changed?.metadata.name || metadata.namespace !== changed.metadata.namespace;
  return sizeOf({ teams: changed ? [...teams.filter(isOther), changed] : teams, agents });
}

function agentNamesIn(stored: StoredObjects, { metadata: { namespace, name } }: Team): string[] {
  return stored.list('Agent', { namespace, fieldSelector: `spec.team=${name}` }).items.map(({ metadata }) => metadata.name);
}

function problem(segments: readonly (string | number)[], message: string, kind: FieldProblem['kind']): FieldProblem {
  return { path: formatPath(segments), segments, kind, message };
}

/** With the word at the end of the first message as its reason, for programs. */
function refusal(object: KindObject, problems: readonly FieldProblem[]): InvalidError {
  const { message, fields } = invalidObject(object, object.kind, problems);
  const reason = /\((\w+)\)$/.exec(problems[0]?.message ?? '')?.[1];
  return new InvalidError(message, fields, reason === undefined ? {} : { reason });
}
