/** Whether two sets of glob patterns can mean the same file. Pure. When in doubt they can: a mark blocks nobody. */

export function overlap(a: readonly string[], b: readonly string[]): boolean {
  const others = b.map(segmentsOf);
  return a.some((pattern) => others.some((other) => canMeet(segmentsOf(pattern), other)));
}

/** A folder means what is in it. */
function segmentsOf(pattern: string): readonly string[] {
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.');
  return pattern.endsWith('/') ? [...segments, ANY_DEPTH] : segments;
}

const ANY_DEPTH = '**';

function canMeet(a: readonly string[], b: readonly string[]): boolean {
  return meet(a, b, { areEqual: canBeEqual, isMany: (segment) => segment === ANY_DEPTH });
}

/** Of one path segment: `*`, `?` and `[...]`; what is in brackets counts as any one character, braces as anything. */
function canBeEqual(a: string, b: string): boolean {
  return meet(charactersOf(a), charactersOf(b), { areEqual: areSameCharacter, isMany: (character) => character === ANY_NUMBER });
}

function areSameCharacter(x: string, y: string): boolean {
  return x === y || x === ANY_ONE || y === ANY_ONE;
}

const ANY_ONE = '?';
const ANY_NUMBER = '*';

function charactersOf(segment: string): readonly string[] {
  return [...segment.replace(/\[[^\]]*\]/g, ANY_ONE).replace(/\{[^}]*\}/g, ANY_NUMBER)];
}

interface Rules {
  areEqual(x: string, y: string): boolean;
  /** Stands for any number of elements, none too. */
  isMany(x: string): boolean;
}

/** Two sequences with wildcards have a common instance. A table, not a recursion: patterns come from strangers. */
function meet(a: readonly string[], b: readonly string[], rules: Rules): boolean {
  let row = [true];
  for (const y of b) row.push(row.at(-1) === true && rules.isMany(y));
  for (const x of a) row = nextRow(x, b, row, rules);
  return row.at(-1) === true;
}

/** Entry n: whether the first n of `b` can be what `a` is up to and with `x`. */
function nextRow(x: string, b: readonly string[], above: readonly boolean[], { areEqual, isMany }: Rules): boolean[] {
  const row = [above[0] === true && isMany(x)];
  for (const [at, y] of b.entries()) {
    const canSkip = row[at] === true || above[at + 1] === true;
    row.push(isMany(x) || isMany(y) ? canSkip : above[at] === true && areEqual(x, y));
  }
  return row;
}
