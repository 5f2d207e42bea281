/** Explanations as lines for people. Pure. */
import { escapeControl, toCell } from '#lib/escape.ts';
import type { Blocker } from './blockers.ts';
import type { Explanation, Step } from './explain.ts';
import type { Advice } from './finding.ts';
import { listed, plural } from './words.ts';

/** Of a long chain the beginning and the end tell most. */
const MOST_STEPS = 6;
const FIRST_STEPS = 2;
const LAST_STEPS = 3;
const MOST_BLOCKERS = 10;
const MOST_NAMES = 5;

export function explanationText({ steps, advice }: Explanation): string {
  return [...stepLines(steps), ...adviceLines(advice)].map((line) => `${line}\n`).join('');
}

function stepLines(steps: readonly Step[]): string[] {
  const indented = (step: Step, depth: number) => `${'  '.repeat(depth)}${stepText(step)}`;
  if (steps.length <= MOST_STEPS) return steps.map(indented);
  const [head, tail] = [steps.slice(0, FIRST_STEPS), steps.slice(-LAST_STEPS)];
  const between = `${'  '.repeat(FIRST_STEPS)}... ${plural(steps.length - head.length - tail.length, 'more step')}, -o json shows all`;
  return [...head.map(indented), between, ...tail.map((step, at) => indented(step, FIRST_STEPS + 1 + at))];
}

function stepText({ object, says, because }: Step): string {
  return toCell(because === undefined ? `${object} ${says}` : `${object} ${says}: ${because}`);
}

function adviceLines(advice: Advice | undefined): string[] {
  if (!advice) return [];
  return [`what helps: ${toCell(advice.text)}`, ...(advice.command === undefined ? [] : [`  ${escapeControl(advice.command)}`])];
}

export function blockersText(blockers: readonly Blocker[]): string {
  const shown = blockers.slice(0, MOST_BLOCKERS).map((blocker) => [...blockerLines(blocker), ...adviceLines(blocker.advice)].join('\n'));
  const rest = blockers.length - shown.length;
  return `${[...shown, ...(rest > 0 ? [`and ${plural(rest, 'other thing')}; -o json shows all`] : [])].join('\n\n')}\n`;
}

function blockerLines(blocker: Blocker): string[] {
  const { alike, inTheWayOf } = blocker;
  return [
    stepText(blocker),
    ...(alike.length > 0 ? [`  the same: ${listed(alike, MOST_NAMES)}`] : []),
    ...(inTheWayOf.length > 0 ? [`  in the way of: ${listed(inTheWayOf, MOST_NAMES)}`] : []),
  ];
}
