/** Two texts as `diff -u` shows them: Myers' shortest edit script, three lines of context. */

const CONTEXT = 3;
/** Beyond this many edits the texts have little in common: shown as one block instead of searched for longer. */
const MAX_EDITS = 1000;

type Edit = { readonly sign: ' ' | '-' | '+'; readonly text: string };

export interface DiffNames {
  readonly from: string;
  readonly to: string;
}

/** Empty when the texts are equal. */
export function unifiedDiff(from: string, to: string, names: DiffNames): string {
  const edits = editsBetween(toLines(from), toLines(to));
  if (edits.every(({ sign }) => sign === ' ')) return '';
  return `--- ${names.from}\n+++ ${names.to}\n${hunksOf(edits).join('')}`;
}

/** A last line without a line end is another line than the one with it. */
function toLines(text: string): string[] {
  const lines = text.split('\n');
  const last = lines.pop();
  const whole = lines.map((line) => `${line}\n`);
  return last ? [...whole, `${last}\n\\ No newline at end of file\n`] : whole;
}

function editsBetween(a: readonly string[], b: readonly string[]): Edit[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const same = (lines: readonly string[]): Edit[] => lines.map((text) => ({ sign: ' ', text }));
  const middle = shortestEdits(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [...same(a.slice(0, start)), ...middle, ...same(a.slice(a.length - end))];
}

/** Furthest reach on each diagonal after d edits; the trace is walked back to say which edits they were. */
function shortestEdits(a: readonly string[], b: readonly string[]): Edit[] {
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, MAX_EDITS); d++) {
    trace.push(reach);
    const next = new Map<number, number>();
    for (let k = -d; k <= d; k += 2) {
      const x = furthest(a, b, k, stepTo(reach, k, d).x);
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a, b);
    }
    reach = next;
  }
  return [...a.map((text): Edit => ({ sign: '-', text })), ...b.map((text): Edit => ({ sign: '+', text }))];
}

function furthest(a: readonly string[], b: readonly string[], k: number, from: number): number {
  let x = from;
  while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
  return x;
}

/** Into diagonal k by a line of b (down) or past a line of a (right), whichever reaches further. */
function stepTo(reach: ReadonlyMap<number, number>, k: number, d: number): { x: number; isDown: boolean } {
  const above = reach.get(k + 1) ?? -1;
  const left = reach.get(k - 1) ?? -1;
  const isDown = k === -d || (k !== d && left < above);
  return { isDown, x: isDown ? above : left + 1 };
}

function walkBack(trace: readonly ReadonlyMap<number, number>[], a: readonly string[], b: readonly string[]): Edit[] {
  const edits: Edit[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const { x: entered, isDown } = stepTo(trace[d] as ReadonlyMap<number, number>, x - y, d);
    while (x > entered && y > 0) {
      edits.push({ sign: ' ', text: a[--x] as string });
      y--;
    }
    if (d === 0) break;
    if (isDown) edits.push({ sign: '+', text: b[--y] as string });
    else edits.push({ sign: '-', text: a[--x] as string });
  }
  return edits.reverse();
}

function hunksOf(edits: readonly Edit[]): string[] {
  const changed = edits.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]));
  const ranges: { from: number; to: number }[] = [];
  for (const index of changed) {
    const last = ranges.at(-1);
    if (last && index - last.to <= 2 * CONTEXT) last.to = index + 1;
    else ranges.push({ from: index, to: index + 1 });
  }
  return ranges.map(({ from, to }) => hunk(edits, Math.max(0, from - CONTEXT), Math.min(edits.length, to + CONTEXT)));
}

function hunk(edits: readonly Edit[], from: number, to: number): string {
  const shown = edits.slice(from, to);
  const range = (sign: '-' | '+') => {
    const counts = (list: readonly Edit[]) => list.filter((edit) => edit.sign === ' ' || edit.sign === sign).length;
    const before = counts(edits.slice(0, from));
    const length = counts(shown);
    const start = length === 0 ? before : before + 1;
    return length === 1 ? `${start}` : `${start},${length}`;
  };
  return `@@ -${range('-')} +${range('+')} @@\n${shown.map(({ sign, text }) => `${sign}${text}`).join('')}`;
}
