/** Order of values as kubectl's --sort-by has it: what is missing first, numbers by size, text with its numbers by size too. */

export function compareValues(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  return compareNaturally(toText(a), toText(b));
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function compareNaturally(a: string, b: string): number {
  const left = a.match(/\d+|\D+/g) ?? [];
  const right = b.match(/\d+|\D+/g) ?? [];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const order = comparePart(left[at] ?? '', right[at] ?? '');
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

function comparePart(a: string, b: string): number {
  if (/^\d/.test(a) && /^\d/.test(b)) {
    const order = Number(a) - Number(b);
    if (order !== 0) return order;
  }
  return a < b ? -1 : Number(a > b);
}
