/** The board for a terminal of a given size: columns side by side where there is room, else one line per task; cut, never wrapped. Pure. */

import { ageOfCard, attemptOfCard, type Card, type Cards, COLUMNS, type Column } from '#client/board-cards.ts';
import type { RenderOptions } from '../live/render.ts';
import { cut, padded, widthOf } from '../live/width.ts';
import { type Colour, coloured } from '../print/colour.ts';

/** Narrower than this, a column tells nothing. */
const LEAST_COLUMN = 14;
const GAP = 2;

export function renderCards(board: Cards, { columns, rows, now, hasColour }: RenderOptions): readonly string[] {
  const width = Math.max(1, columns - 1);
  const foot = 'q leaves';
  // One line stays free for the cursor.
  const height = Math.max(1, rows - 3);
  const isWide = width >= COLUMNS.length * (LEAST_COLUMN + GAP);
  const body = isWide ? sideBySide(board, { width, height, now, hasColour }) : oneByOne(board, { width, height, now });
  return [cut(titleOf(board), width), ...body, cut(foot, width)].slice(0, Math.max(1, rows - 1));
}

function titleOf({ namespace, teams, cards }: Cards): string {
  const done = cards.filter(({ column }) => column === 'done').length;
  const [first] = teams;
  const what = teams.length === 1 && first ? `team ${first.name} ${first.phase}` : `${teams.length} teams in ${namespace}`;
  return `${what}: ${done} of ${cards.length} tasks done`;
}

interface Space {
  readonly width: number;
  readonly height: number;
  readonly now: Date;
}

const COLOURS: Readonly<Partial<Record<Column, Colour>>> = { blocked: 'yellow', working: 'green', failed: 'red' };

function sideBySide(board: Cards, { hasColour, ...space }: Space & { readonly hasColour: boolean }): readonly string[] {
  const stacks = COLUMNS.map((column) => {
    const cards = board.cards.filter((card) => card.column === column);
    return { title: `${column.toUpperCase()} ${cards.length}`, blocks: cards.map((card) => blockOf(card, board, space.now)) };
  });
  const widths = widthsOf(stacks, space.width);
  const bodies = stacks.map(({ blocks }) => stacked(blocks, space.height - 1));
  const height = Math.max(0, ...bodies.map(({ length }) => length));
  const inLine = (cells: readonly string[], paint = (text: string, _at: number) => text) =>
    cells
      .map((text, at) => paint(cut(text, widths[at] ?? 0), at) + gapAfter(text, widths[at] ?? 0))
      .join('')
      .trimEnd();
  const paint = (text: string, at: number) => {
    const colour = hasColour ? COLOURS[COLUMNS[at] ?? 'done'] : undefined;
    return colour ? coloured(text, colour) : text;
  };
  const head = inLine(
    stacks.map(({ title }) => title),
    paint,
  );
  const lines = Array.from({ length: height }, (_, line) => inLine(bodies.map((body) => body[line] ?? '')));
  return [head, ...lines];
}

function gapAfter(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(cut(text, width))) + GAP);
}

/** A card: what it is, who has it and for how long, and why it is not further. */
function blockOf(card: Card, { teams }: Cards, now: Date): readonly string[] {
  const name = teams.length > 1 ? `${card.team}/${card.task}` : card.task;
  const facts = [card.owner, attemptOfCard(card), ageOfCard(card, now)].filter((word) => word !== '').join(' ');
  return [name, `  ${facts}`, ...(card.reason === '' ? [] : [`  ${card.reason}`])];
}

/** As many as fit, and how many do not. */
function stacked(blocks: readonly (readonly string[])[], height: number): readonly string[] {
  const lines: string[] = [];
  for (const [at, block] of blocks.entries()) {
    const isLast = at === blocks.length - 1;
    if (lines.length + block.length > height - (isLast ? 0 : 1)) return [...lines, `+ ${blocks.length - at} more`];
    lines.push(...block);
  }
  return lines;
}

interface Stack {
  readonly title: string;
  readonly blocks: readonly (readonly string[])[];
}

/** An empty column is as wide as its title; the others share what is left, and none takes more than it needs. */
function widthsOf(stacks: readonly Stack[], width: number): readonly number[] {
  const needs = stacks.map(({ title, blocks }) => Math.max(widthOf(title), ...blocks.flat().map(widthOf)));
  const widths = stacks.map(({ title }) => widthOf(title));
  const spent = () => widths.reduce((sum, each) => sum + each + GAP, -GAP);
  for (let left = width - spent(); left > 0; left = width - spent()) {
    const narrow = widths.flatMap((each, at) => (each < (needs[at] ?? 0) ? [at] : []));
    if (narrow.length === 0) break;
    for (const at of narrow.slice(0, left)) widths[at] = (widths[at] ?? 0) + 1;
  }
  return widths;
}

function oneByOne({ cards, teams }: Cards, { width, height, now }: Space): readonly string[] {
  const shown = cards.length > height ? cards.slice(0, height - 1) : cards;
  const nameOf = (card: Card) => (teams.length > 1 ? `${card.team}/${card.task}` : card.task);
  const widest = Math.max(0, ...shown.map((card) => widthOf(nameOf(card))));
  const lines = shown.map((card) => {
    const facts = [card.owner, attemptOfCard(card), ageOfCard(card, now), card.reason].filter((word) => word !== '').join(' ');
    return cut(`${padded(card.column, 7)}  ${padded(nameOf(card), widest)}  ${facts}`, width);
  });
  return shown.length === cards.length ? lines : [...lines, cut(`+ ${cards.length - shown.length} more`, width)];
}
