import fc from 'fast-check';
import { expect, it } from 'vitest';
import { backoffMs } from './backoff.ts';

it.each([
  { failures: 0, want: 5 },
  { failures: 1, want: 10 },
  { failures: 12, want: 20_480 },
  { failures: 13, want: 30_000 },
  { failures: 5_000, want: 30_000 },
])('doubles from 5 ms to 30 s: $failures failures → at most $want ms', ({ failures, want }) => {
  expect(backoffMs(failures, { random: () => 1 })).toBe(want);
});

it('stays between half the ceiling and the ceiling', () => {
  const inputs = [fc.nat(2_000), fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })] as const;
  fc.assert(
    fc.property(...inputs, (failures, random) => {
      const ceiling = backoffMs(failures, { random: () => 1 });
      const delay = backoffMs(failures, { random: () => random });
      return delay >= ceiling / 2 && delay <= ceiling;
    }),
  );
});
