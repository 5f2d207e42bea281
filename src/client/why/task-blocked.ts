/** Which dependency of a Task stands in the way. Pure. */
import { shortName, type Task } from '#api/types.ts';
import { nearest } from '#lib/suggest.ts';
import { changeTask, commandOf, edit, runAgain } from './commands.ts';
import { type Advice, type Finding, leadingTo, type Sight, stuck } from './finding.ts';
import { findTask, makerOf, type View } from './view.ts';
import { conditionOf, idOf, listed, since, wordsOf } from './words.ts';

const SAYS = 'is Blocked';

export function lookAtBlocked(task: Task, sight: Sight): Finding {
  const { view } = sight;
  const { team } = task.spec;
  if (task.status?.owner !== undefined) return lookAtDeclared(task, sight);
  if (task.status?.reason === 'PlanTimeout') return lookAtLatePlan(task, view);
  const names = task.spec.dependsOn ?? [];
  const missing = names.find((name) => findTask(view, team, name) === undefined);
  if (missing !== undefined) return lookAtMissing(task, missing, view);
  if (task.status?.reason === 'DependencyCycle') return lookAtCircle(task, view);
  const open = openOf(task, view);
  if (open.length > 0) return leadingTo([...open].sort(byHope), SAYS, waitsFor(open));
  const { reason = '', message = '' } = conditionOf(task, 'Ready') ?? { reason: task.status?.reason ?? '' };
  return stuck(SAYS, wordsOf({ reason, message }), { text: 'see the whole of it:', command: edit(view, task) });
}

/** Its owner has it and says that it cannot go on. */
function lookAtDeclared(task: Task, { view, now }: Sight): Finding {
  const { owner, startedAt } = task.status ?? {};
  const message = conditionOf(task, 'Ready')?.message ?? '';
  const says = `is Blocked on agent/${owner} ${since(startedAt, now)}`;
  return stuck(says, wordsOf({ reason: 'BlockedByOwner', message }), {
    text: 'help it on with a word, or assign the task to somebody else:',
    command: commandOf(view, 'message', owner ?? '', 'TEXT'),
  });
}

/** With a plan there is something to approve; without one it is asked for anew. */
function lookAtLatePlan(task: Task, view: View): Finding {
  const because = wordsOf({ reason: 'PlanTimeout', message: conditionOf(task, 'Ready')?.message ?? '' });
  if (conditionOf(task, 'PlanApproved')?.status !== 'Unknown') {
    return stuck(SAYS, because, { text: 'have it tried anew, with a new plan:', command: runAgain(view, task) });
  }
  return stuck(SAYS, because, {
    text: 'read the plan (status.plan), and approve it:',
    command: commandOf(view, 'approve', task.metadata.name),
  });
}

function openOf(task: Task, view: View): readonly Task[] {
  return (task.spec.dependsOn ?? []).flatMap((name) => {
    const found = findTask(view, task.spec.team, name);
    return found && found.status?.phase !== 'Succeeded' ? [found] : [];
  });
}

function waitsFor(open: readonly Task[]): string {
  const failed = open.filter(({ status }) => status?.phase === 'Failed');
  if (failed.length > 0) return `DependencyFailed: it waits for ${listed(failed.map(idOf))}, which failed`;
  return `it waits for ${listed(open.map(idOf))}`;
}

/** Those that cannot succeed come first. */
const LEAST_HOPE = ['Failed', 'Blocked', 'Pending', 'Claimed', 'Running'];

function byHope(a: Task, b: Task): number {
  const rank = ({ status }: Task) => LEAST_HOPE.indexOf(status?.phase ?? 'Pending');
  return rank(a) - rank(b);
}

function lookAtMissing(task: Task, missing: string, view: View): Finding {
  const { team, dependsOn = [] } = task.spec;
  const others = view.tasksOf(team).filter(({ metadata }) => metadata.name !== task.metadata.name);
  const names = others.flatMap(({ metadata }) => [shortName(team, metadata.name), metadata.name]);
  const meant = nearest(missing, names);
  const right = [...new Set(dependsOn.map((name) => (name === missing ? meant : name)))].filter((name) => name !== undefined);
  const command = changeTask(view, task, { dependsOn: right });
  const text = meant === undefined ? `create it, or do without it:` : `if ${meant} is meant:`;
  return stuck(SAYS, `DependencyNotFound: team ${team} has no task ${missing}`, { text, command });
}

function lookAtCircle(task: Task, view: View): Finding {
  const circle = circleFrom(task, view);
  const [first] = circle;
  if (first === undefined) return stuck(SAYS, 'DependencyCycle: it waits for itself by way of others', restart(task, view));
  if (!circle.includes(task)) return leadingTo([first], SAYS, `it waits for ${idOf(first)}, which waits for itself`);
  const names = [...circle, first].map((each) => shortName(each.spec.team, each.metadata.name));
  return stuck(SAYS, `DependencyCycle: each of these waits for the next: ${names.join(' → ')}`, breaking(circle, view));
}

/** The circle that this task is in, or leads into. */
function circleFrom(task: Task, view: View): readonly Task[] {
  const path: Task[] = [];
  let at: Task | undefined = task;
  while (at !== undefined && !path.includes(at)) {
    path.push(at);
    at = openOf(at, view).find(({ status }) => status?.reason === 'DependencyCycle');
  }
  const circle = at === undefined ? [] : path.slice(path.indexOf(at));
  // Whoever of it is asked, it is the same circle.
  const names = circle.map(({ metadata }) => metadata.name);
  const start = names.indexOf([...names].sort()[0] ?? '');
  return [...circle.slice(start), ...circle.slice(0, Math.max(0, start))];
}

/** Any of its dependencies would do; the last of the circle closes it. */
function breaking(circle: readonly Task[], view: View): Advice | undefined {
  const last = circle.at(-1);
  const [first] = circle;
  if (!last || !first) return undefined;
  const { team } = last.spec;
  const dependsOn = (last.spec.dependsOn ?? []).filter((name) => findTask(view, team, name) !== first);
  const text = `take one dependency out of the circle, for example that of ${shortName(team, last.metadata.name)} on ${shortName(team, first.metadata.name)}:`;
  return { text, command: changeTask(view, last, { dependsOn }) };
}

function restart(task: Task, view: View): Advice {
  return { text: 'take a dependency out:', command: edit(view, makerOf(view, task) ?? task) };
}
