/** What a set of manifests would do, task by task: the order in which the tasks can start. Pure. */
import type { KindObject } from '#api/meta.ts';
import { shortName, type Task, type Team } from '#api/types.ts';

export interface PlannedTask {
  readonly namespace: string;
  /** Of the Task object. */
  readonly name: string;
  readonly team: string;
  readonly after: readonly string[];
}

/** As they are written, each behind those it waits for; those of a circle, which never start, at the end. */
export function plannedTasks(objects: readonly KindObject[]): readonly PlannedTask[] {
  const tasks = objects.flatMap((object) => {
    if (object.kind === 'Team') return ofTeam(object as Team);
    return object.kind === 'Task' ? [ofTask(object as Task)] : [];
  });
  const open = new Set(tasks.flatMap(namesOf));
  const ordered = new Set<PlannedTask>();
  for (let before = -1; before < ordered.size; ) {
    before = ordered.size;
    for (const task of tasks) {
      if (ordered.has(task) || task.after.some((name) => open.has(idOf(task, name)))) continue;
      ordered.add(task);
      for (const name of namesOf(task)) open.delete(name);
    }
  }
  return [...ordered, ...tasks.filter((task) => !ordered.has(task))];
}

/** A dependency is named in full, or without the team. */
function namesOf(task: PlannedTask): string[] {
  return [task.name, shortName(task.team, task.name)].map((name) => idOf(task, name));
}

function idOf({ namespace, team }: PlannedTask, name: string): string {
  return [namespace, team, name].join('/');
}

function ofTeam({ metadata: { namespace, name: team }, spec }: Team): PlannedTask[] {
  return (spec.tasks ?? []).map(({ name, dependsOn = [] }) => ({ namespace, name: `${team}-${name}`, team, after: dependsOn }));
}

function ofTask({ metadata: { namespace, name }, spec }: Task): PlannedTask {
  return { namespace, name, team: spec.team, after: spec.dependsOn ?? [] };
}

export function planText(objects: readonly KindObject[]): string {
  const teams = objects.filter(({ kind }) => kind === 'Team').map(({ metadata }) => `team/${metadata.name} would be applied\n`);
  const tasks = plannedTasks(objects).map(({ name, after }) => {
    const behind = after.length === 0 ? '' : ` after ${after.join(', ')}`;
    return `task/${name} would run${behind}\n`;
  });
  return [...teams, ...tasks].join('');
}
