/**
 * A set of documents as a whole, beside what exists: what the store and the front door would say of each of them if all the others were
 * there already. So a set may stand in any order, and one with a mistake in it is refused before any of it is written.
 */
import { AgentisoError, type FieldProblem, InvalidError } from '#lib/errors.ts';
import { formatPath } from '#lib/json.ts';
import { nearest } from '#lib/suggest.ts';
import { relationFindings } from './front-door.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import type { KindObject } from './meta.ts';
import { checkRelations, type StoredObjects } from './relations.ts';
import { missingDependencies } from './task-dependencies.ts';
import { circleMessage, circlesFrom } from './task-graph.ts';
import { TeamTasks } from './team-tasks.ts';
import { shortName, type Task } from './types.ts';
import { WithSet } from './with-set.ts';

/** An object as it would be stored, and as it is. */
export interface SetMember {
  readonly object: KindObject;
  readonly old?: KindObject | undefined;
}

export interface SetOptions {
  readonly existing: StoredObjects;
  /**
   * What is neither in the set nor among what exists: everything means that it is nowhere; teams, that only what a team of the set lacks
   * is missing, for the set speaks for the whole of it; nothing, that other tasks may be anywhere.
   */
  readonly knows: 'everything' | 'teams' | 'nothing';
}

export interface SetProblem extends FieldProblem {
  /** Which of the members. */
  readonly index: number;
}

/** What the machine has room for, and what its daemon is set to, is not known here. */
const UNLIMITED: Limits = {
  ...DEFAULT_LIMITS,
  maxAgents: Number.POSITIVE_INFINITY,
  maxAgentsPerTeam: Number.POSITIVE_INFINITY,
  maxNestingDepth: Number.POSITIVE_INFINITY,
  maxMemoryMiB: Number.POSITIVE_INFINITY,
};

/** Fields that name a team which may well be there already. */
const OTHER_TEAMS: readonly string[] = ['spec.parent', 'spec.team'];

export function setProblems(members: readonly SetMember[], { existing, knows }: SetOptions): SetProblem[] {
  const stored = new WithSet(members, existing);
  const isBoardKnown = (object: KindObject) => knows === 'everything' || (knows === 'teams' && stored.hasTeamOf(object));
  const found = members.flatMap((member, index) => [
    ...beside(member, stored)
      .filter((problem) => !mayBeElsewhere(problem, knows))
      .map((problem) => ({ ...problem, index })),
    ...(isBoardKnown(member.object) ? missing(member, stored).map((problem) => ({ ...problem, index })) : []),
  ]);
  return [...found, ...circles(members, stored)];
}

/** Who a task is for is asked only where its team is in the set, and that says which roles there are. */
function mayBeElsewhere({ kind, path }: FieldProblem, knows: SetOptions['knows']): boolean {
  return kind === 'NotFound' && knows !== 'everything' && OTHER_TEAMS.includes(path);
}

/** One of them beside all others. Circles are looked for once, over all of them. */
function beside({ object, old }: SetMember, stored: StoredObjects): readonly FieldProblem[] {
  if (object.spec === old?.spec) return [];
  try {
    checkRelations(object, old, stored);
    return relationFindings({ object, old }, stored, { limits: UNLIMITED, hasDependents: () => false }).problems;
  } catch (error) {
    if (error instanceof InvalidError) return error.fields;
    if (!(error instanceof AgentisoError)) throw error;
    return [{ path: 'metadata.name', segments: ['metadata', 'name'], kind: 'Forbidden', message: `Forbidden: ${error.message}` }];
  }
}

function missing({ object, old }: SetMember, stored: WithSet): FieldProblem[] {
  const task = object as Task;
  if (task.kind !== 'Task' || task.spec.dependsOn === (old as Task | undefined)?.spec.dependsOn) return [];
  return missingDependencies(task, new TeamTasks(stored, task)).map(({ reference, index }) => {
    const names = stored.tasksOf(task).map(({ metadata }) => shortName(task.spec.team, metadata.name));
    const meant = nearest(reference, names);
    const advice = meant ? `did you mean ${JSON.stringify(meant)}?` : 'create it, here or before, or remove the dependency';
    const message = `Not found: ${JSON.stringify(reference)}: team ${task.spec.team} has no task of that name; ${advice} (DependencyNotFound)`;
    return problem(['spec', 'dependsOn', index], 'NotFound', message);
  });
}

/** Each way round once, told at the first member that is on it. One that goes past all of them is not theirs. */
function circles(members: readonly SetMember[], stored: StoredObjects): SetProblem[] {
  const teams = new Map<string, Map<string, number>>();
  members.forEach(({ object }, index) => {
    if (object.kind !== 'Task') return;
    const { metadata, spec } = object as Task;
    const id = `${metadata.namespace}/${spec.team}`;
    const tasks = teams.get(id) ?? new Map<string, number>();
    teams.set(id, tasks.set(metadata.name, index));
  });
  return [...teams.values()].flatMap((indexes) => circlesOf(indexes, members, stored));
}

function circlesOf(indexes: ReadonlyMap<string, number>, members: readonly SetMember[], stored: StoredObjects): SetProblem[] {
  const taskAt = (index: number) => members[index]?.object as Task;
  const [first = 0] = indexes.values();
  const tasks = new TeamTasks(stored, taskAt(first));
  return circlesFrom(indexes.keys(), (name) => tasks.dependenciesOf(name)).flatMap((circle) => {
    const at = circle.findIndex((name) => indexes.has(name));
    // The schema tells of a task that names itself.
    if (at < 0 || circle.length === 2) return [];
    const round = [...circle.slice(at, -1), ...circle.slice(0, at + 1)];
    const index = indexes.get(round[0] ?? '') ?? 0;
    const { dependsOn = [], team } = taskAt(index).spec;
    const place = dependsOn.findIndex((reference) => tasks.find(reference)?.name === round[1]);
    const message = circleMessage(
      dependsOn[place] ?? '',
      round.map((name) => shortName(team, name)),
    );
    return [{ ...problem(['spec', 'dependsOn', place], 'Invalid', message), index }];
  });
}

function problem(segments: readonly (string | number)[], kind: FieldProblem['kind'], message: string): FieldProblem {
  return { path: formatPath(segments), segments, kind, message };
}
