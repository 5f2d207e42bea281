import { expect, it } from 'vitest';
import { emptyForMs } from './emptiness.ts';

const cases: [string, string | undefined, number, number][] = [
  ['emptied a moment ago', 'a', 0, 2_000],
  ['emptied for good', 'a', 2_000, 0],
  ['found empty at the start', undefined, 2_000, 28_000],
  ['found empty at two relists', undefined, 30_000, 0],
  ['replaced by an empty one', 'b', 3_600_000, Number.POSITIVE_INFINITY],
];

it.each(cases)('a directory that was %s is believed in time', (_, filledIdentity, agoMs, want) => {
  expect(emptyForMs({ sinceMs: 5_000, nowMs: 5_000 + agoMs, identity: 'a', filledIdentity })).toBe(want);
});
