/** What a task waits for, beside the tasks that exist: what is missing, and whether it would wait for itself in the end. */
import type { FieldProblem } from '#lib/errors.ts';
import { formatPath } from '#lib/json.ts';
import type { StoredObjects } from './relations.ts';
import { circleMessage, circleThrough } from './task-graph.ts';
import { TeamTasks } from './team-tasks.ts';
import { shortName, type Task } from './types.ts';

export interface DependencyFindings {
  readonly problems: FieldProblem[];
  readonly warnings: string[];
}

/** `mayCloseCircle`: false when no task names this one, for then none can lead back to it. */
export function dependencyFindings(task: Task, stored: StoredObjects, mayCloseCircle: boolean): DependencyFindings {
  const { dependsOn = [], team } = task.spec;
  const tasks = new TeamTasks(withTask(stored, task), task);
  const warnings = missingDependencies(task, tasks).map(
    ({ reference, index }) =>
      `spec.dependsOn[${index}]: there is no task ${JSON.stringify(reference)} in team ${team} yet; this one stays Blocked until there is`,
  );
  const circle = mayCloseCircle ? circleThrough(task.metadata.name, (name) => tasks.dependenciesOf(name)) : undefined;
  // The schema tells of a task that names itself.
  if (!circle || circle.length === 2) return { problems: [], warnings };
  const index = dependsOn.findIndex((reference) => tasks.find(reference)?.name === circle[1]);
  const shorts = circle.map((name) => shortName(team, name));
  const segments = ['spec', 'dependsOn', index];
  const message = circleMessage(dependsOn[index] ?? '', shorts);
  return { problems: [{ path: formatPath(segments), segments, kind: 'Invalid', message }], warnings };
}

/** Dependencies that nothing has the name of. */
export function missingDependencies({ spec }: Task, tasks: TeamTasks): { readonly reference: string; readonly index: number }[] {
  return (spec.dependsOn ?? []).flatMap((reference, index) => (tasks.find(reference) ? [] : [{ reference, index }]));
}

/** What is stored once this task is, as it is here. */
function withTask(stored: StoredObjects, task: Task): StoredObjects {
  const { namespace, name } = task.metadata;
  return {
    get: (key) => (key.kind === 'Task' && key.name === name && key.namespace === namespace ? task : stored.get(key)),
    list: (kind, query) => stored.list(kind, query),
  };
}
