/** The nearest word to a mistyped one, or nothing when none is near enough to be meant. */

export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(lower, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours each count one. */
function editDistance(a: string, b: string): number {
  let last: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(cheapest({ a, b, i, j, next, row, last }));
    [last, row] = [row, next];
  }
  return row[b.length] ?? 0;
}

interface Cell {
  readonly a: string;
  readonly b: string;
  readonly i: number;
  readonly j: number;
  /** This row so far, the row above and the one above that. */
  readonly next: readonly number[];
  readonly row: readonly number[];
  readonly last: readonly number[];
}

function cheapest({ a, b, i, j, next, row, last }: Cell): number {
  const at = (from: readonly number[], index: number) => from[index] ?? Number.POSITIVE_INFINITY;
  const replaced = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
  const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
  return Math.min(replaced, at(row, j) + 1, at(next, j - 1) + 1, isSwap ? at(last, j - 2) + 1 : replaced);
}
