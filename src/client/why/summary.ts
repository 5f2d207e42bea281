/** What there is, in one line, when nothing is stuck. Pure. */
import type { KindObject } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import { plural } from './words.ts';

export function summaryOf(objects: readonly KindObject[], namespace: string): string {
  if (objects.length === 0) return `nothing is stuck: there is nothing in the namespace ${namespace}\n`;
  const count = (kind: string) => objects.filter((object) => object.kind === kind).length;
  const tasks = objects.filter((object): object is Task => object.kind === 'Task');
  const inPhase = (...phases: readonly (string | undefined)[]) => tasks.filter(({ status }) => phases.includes(status?.phase)).length;
  const parts: readonly [number, string][] = [
    [inPhase('Claimed', 'Running'), 'at work'],
    [inPhase('Pending', 'Blocked', undefined), 'waiting'],
    [inPhase('Succeeded'), 'done'],
    [inPhase('Failed'), 'cancelled'],
  ];
  const told = parts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`);
  const ofTasks = tasks.length === 0 ? 'no tasks' : `${plural(tasks.length, 'task')} (${told.join(', ')})`;
  return `nothing is stuck: ${plural(count('Team'), 'team')}, ${plural(count('Agent'), 'agent')}, ${ofTasks}\n`;
}
