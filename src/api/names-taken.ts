/** Names inside a team: each short name means one Agent, and one Task, whether it was made by hand or by the team. */
import type { FieldProblem } from '#lib/errors.ts';
import { formatPath } from '#lib/json.ts';
import { controllerOf, type KindObject } from './meta.ts';
import type { StoredObjects } from './relations.ts';
import { agentNamesOf } from './team-budget.ts';
import { type Agent, shortName, type Task, type Team } from './types.ts';

/** Of a new Agent or Task: another one that would be called the same. */
export function sameShortName(object: Agent | Task, stored: StoredObjects): FieldProblem[] {
  const { kind, metadata, spec } = object;
  const other = namesake({ kind, name: metadata.name, namespace: metadata.namespace, team: spec.team }, stored);
  if (!other) return [];
  const short = shortName(spec.team, metadata.name);
  const message = `Duplicate value: ${JSON.stringify(metadata.name)}: ${kind} ${other.metadata.name} is called ${JSON.stringify(short)} in team ${spec.team} already; choose another name`;
  return [{ path: 'metadata.name', segments: ['metadata', 'name'], kind: 'Duplicate', message }];
}

interface Called {
  readonly kind: string;
  readonly namespace: string;
  /** Full. */
  readonly name: string;
  readonly team: string;
}

/** `design` and `<team>-design` are the same inside the team. */
function namesake({ kind, namespace, name, team }: Called, stored: StoredObjects): Agent | Task | undefined {
  const short = shortName(team, name);
  const twin = short === name ? `${team}-${name}` : short;
  const other = stored.get({ kind, namespace, name: twin }) as Agent | Task | undefined;
  return other?.spec.team === team && shortName(team, twin) === short ? other : undefined;
}

/** Names that a Team newly asks for and somebody else has. */
export function nameTakenProblems(team: Team, old: Team | undefined, stored: StoredObjects): FieldProblem[] {
  return [...agentsTaken(team, old, stored), ...tasksTaken(team, old, stored)];
}

function agentsTaken(team: Team, old: Team | undefined, stored: StoredObjects): FieldProblem[] {
  if (team.spec.roles === old?.spec.roles) return [];
  const known = new Set(old ? agentNamesOf(old) : []);
  return team.spec.roles.flatMap((role, index) => {
    const names = agentNamesOf({ ...team, spec: { ...team.spec, roles: [role] } }).filter((name) => !known.has(name));
    const taken = names.map((name) => takenBy('Agent', name, team, stored)).find((other) => other !== undefined);
    return taken ? [problem(['spec', 'roles', index, 'name'], role.name, taken)] : [];
  });
}

function tasksTaken(team: Team, old: Team | undefined, stored: StoredObjects): FieldProblem[] {
  if (team.spec.tasks === old?.spec.tasks) return [];
  const known = new Set((old?.spec.tasks ?? []).map(({ name }) => name));
  return (team.spec.tasks ?? []).flatMap(({ name }, index) => {
    const taken = known.has(name) ? undefined : takenBy('Task', `${team.metadata.name}-${name}`, team, stored);
    return taken ? [problem(['spec', 'tasks', index, 'name'], name, taken)] : [];
  });
}

/** Whoever has the name, or the short name, and was not made by this team. */
function takenBy(kind: string, name: string, { metadata }: Team, stored: StoredObjects): KindObject | undefined {
  const { namespace, name: team } = metadata;
  const same = stored.get({ kind, namespace, name });
  if (!same) return namesake({ kind, namespace, name, team }, stored);
  const owner = controllerOf(same);
  return owner?.kind === 'Team' && owner.name === team ? undefined : same;
}

function problem(segments: readonly (string | number)[], name: string, { kind, metadata }: KindObject): FieldProblem {
  const message = `Duplicate value: ${JSON.stringify(name)}: ${kind} ${metadata.name} exists and was not made by this team; rename or delete one of them (NameTaken)`;
  return { path: formatPath(segments), segments, kind: 'Duplicate', message };
}
