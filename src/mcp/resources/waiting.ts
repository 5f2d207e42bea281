/** What of a team does not go on, why, and what would help: for its status and for whoever asks a model about it. Pure. */
import type { KindObject } from '#api/meta.ts';
import type { Task, Team } from '#api/types.ts';
import { type Blocker, blockersIn } from '#client/why/blockers.ts';
import { type Explanation, explain, type Step } from '#client/why/explain.ts';
import type { Advice } from '#client/why/finding.ts';
import type { View } from '#client/why/view.ts';
import { idOf, listed } from '#client/why/words.ts';
import { escapeControl, toCell } from '#lib/escape.ts';
import { teamOf } from './place.ts';

const MOST_NAMES = 5;

/** The team itself and all that is its own. */
export function partsOf(team: Team, { objects }: Pick<View, 'objects'>): readonly KindObject[] {
  return objects.filter((object) =>
    object.kind === 'Team' ? object.metadata.name === team.metadata.name : teamOf(object) === team.metadata.name,
  );
}

/** What is stuck in the team, or elsewhere and holds something of the team up. */
export function blockersOf(team: Team, view: View, now: Date): readonly Blocker[] {
  const own = new Set(partsOf(team, view).map(idOf));
  return blockersIn(view, now).filter(({ object, alike, inTheWayOf }) => [object, ...alike, ...inTheWayOf].some((id) => own.has(id)));
}

export function blockerText(blocker: Blocker): string {
  const { alike, inTheWayOf, advice } = blocker;
  return [
    stepText(blocker),
    ...(alike.length > 0 ? [`  the same: ${listed(alike, MOST_NAMES)}`] : []),
    ...(inTheWayOf.length > 0 ? [`  in the way of: ${listed(inTheWayOf, MOST_NAMES)}`] : []),
    ...adviceLines(advice),
  ].join('\n');
}

/** One for each Task that has not begun, in the order of the board. */
export function explanationsOf(team: Team, view: View, now: Date): readonly Explanation[] {
  const isOpen = (object: KindObject): object is Task =>
    object.kind === 'Task' && ['Pending', 'Blocked', undefined].includes((object as Task).status?.phase);
  return partsOf(team, view)
    .filter(isOpen)
    .map((task) => explain(task, view, now));
}

export function explanationText({ steps, advice }: Explanation): string {
  return [...steps.map((step, depth) => `${'  '.repeat(depth)}${stepText(step)}`), ...adviceLines(advice)].join('\n');
}

function stepText({ object, says, because }: Step): string {
  return toCell(because === undefined ? `${object} ${says}` : `${object} ${says}: ${because}`);
}

function adviceLines(advice: Advice | undefined): readonly string[] {
  if (!advice) return [];
  return [
    `  what helps: ${toCell(advice.text)}`,
    ...(advice.command === undefined ? [] : [`  in a shell: ${escapeControl(advice.command)}`]),
  ];
}
