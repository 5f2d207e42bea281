/** What is wrong with an object of ours whatever else exists, and what no schema can say. Pure; asked by every admission. */
import type { FieldProblem } from '#lib/errors.ts';
import { formatPath } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';
import { goldenProblems } from './golden.ts';
import { jsonSchemaProblems } from './json-schema-rule.ts';
import { controllerOf, type KindObject } from './meta.ts';
import { circleMessage, circlesFrom } from './task-graph.ts';
import { templateProblems } from './task-template.ts';
import { type Agent, shortName, type Task, type Team } from './types.ts';

/** Addresses that mean somebody else than an agent of that name. */
const RESERVED_NAMES = ['orchestrator', 'system', 'all', 'self'];

export type OwnRules = (object: KindObject, old: KindObject | undefined) => readonly FieldProblem[];

const RULES: Readonly<Record<string, OwnRules | undefined>> = {
  Team: (object, old) => teamProblems(object as Team, old as Team | undefined),
  Agent: (object, old) => agentProblems(object as Agent, old as Agent | undefined),
  Task: (object) => templateProblems((object as Task).spec),
};

/** Only of what this write changes. */
export function ownRulesOf(kind: string): OwnRules {
  const rules = RULES[kind];
  return (object, old) => (!rules || object.spec === old?.spec ? [] : rules(object, old));
}

function teamProblems(team: Team, old: Team | undefined): FieldProblem[] {
  const { metadata, spec } = team;
  const before = new Map(old?.spec.roles.map((role) => [role.name, role]));
  return [
    ...(spec.roles === old?.spec.roles ? [] : namesakeProblems(spec.roles)),
    ...spec.roles.flatMap((role, index) => jsonSchemaProblems(role, before.get(role.name), ['spec', 'roles', index])),
    ...(spec.tasks === old?.spec.tasks ? [] : taskListProblems(metadata.name, spec.tasks ?? [])),
    ...(spec.golden === old?.spec.golden && spec.repo === old?.spec.repo ? [] : goldenProblems(team)),
  ];
}

/** `dev` with count 2 and `dev-1` both want an agent `dev-1`. */
function namesakeProblems(roles: Team['spec']['roles']): FieldProblem[] {
  const taken = new Map<string, string>();
  return roles.flatMap(({ name, count }, index) => {
    const several = Math.min(count, MAX_COUNT);
    const names = count === 1 ? [name] : Array.from({ length: several }, (_, number) => `${name}-${number + 1}`);
    const twice = names.find((each) => taken.has(each) && taken.get(each) !== name);
    for (const each of names) if (!taken.has(each)) taken.set(each, name);
    if (twice === undefined) return [];
    const message = `Duplicate value: ${JSON.stringify(name)}: roles ${taken.get(twice)} and ${name} would both have an agent ${twice}; rename one of them`;
    return [problem(['spec', 'roles', index, 'name'], 'Duplicate', message)];
  });
}

/** More than the schema lets pass; without a bound a mistyped count would fill the memory. */
const MAX_COUNT = 10_000;

/** The list is a plan of its own: it names nothing that is not in it, and never goes in a circle. */
function taskListProblems(team: string, tasks: NonNullable<Team['spec']['tasks']>): FieldProblem[] {
  const names = tasks.map(({ name }) => name);
  const known = new Set(names);
  const short = (name: string) => (known.has(name) ? name : shortName(team, name));
  const dependenciesOf = new Map(tasks.map(({ name, dependsOn = [] }) => [name, dependsOn.map(short)]));
  const unknown = tasks.flatMap(({ dependsOn = [] }, index) =>
    dependsOn.flatMap((dependency, at) => {
      if (known.has(short(dependency))) return [];
      const meant = nearest(dependency, names);
      const accepted = meant ? `did you mean ${JSON.stringify(meant)}?` : `there are ${names.join(', ')}`;
      const message = `Not found: ${JSON.stringify(dependency)}: no task of this list has that name; ${accepted}`;
      return [problem(['spec', 'tasks', index, 'dependsOn', at], 'NotFound', message)];
    }),
  );
  // One that waits for itself is told by the schema.
  const circles = circlesFrom(names, (name) => (dependenciesOf.get(name) ?? []).filter((dependency) => dependency !== name));
  const ofTemplates = tasks.flatMap((task, index) => templateProblems({ team, ...task }, ['spec', 'tasks', index]));
  return [...unknown, ...circles.map((circle) => circleProblem(circle, names, dependenciesOf)), ...ofTemplates];
}

function circleProblem(circle: string[], names: string[], dependenciesOf: ReadonlyMap<string, readonly string[]>): FieldProblem {
  const [first = '', second = ''] = circle;
  const at = dependenciesOf.get(first)?.indexOf(second) ?? 0;
  return problem(['spec', 'tasks', names.indexOf(first), 'dependsOn', at], 'Invalid', circleMessage(second, circle));
}

function agentProblems(agent: Agent, old: Agent | undefined): FieldProblem[] {
  const { metadata, spec } = agent;
  const problems = jsonSchemaProblems(spec, old?.spec, ['spec']);
  if (old || controllerOf(agent)?.kind === 'Team' || typeof metadata.name !== 'string') return problems;
  const name = shortName(spec.team, metadata.name);
  if (!RESERVED_NAMES.includes(name)) return problems;
  const message = `Invalid value: ${JSON.stringify(metadata.name)}: ${RESERVED_NAMES.join(', ')} are reserved; choose another name`;
  return [...problems, problem(['metadata', 'name'], 'Invalid', message)];
}

function problem(segments: readonly (string | number)[], kind: FieldProblem['kind'], message: string): FieldProblem {
  return { path: formatPath(segments), segments, kind, message };
}
