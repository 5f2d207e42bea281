import { describe, expect, it } from 'vitest';
import { fewAtATime } from './parallel.ts';

describe('fewAtATime', () => {
  it('keeps the order of results and never does more than allowed', async () => {
    const ends = new Map<number, () => void>();
    let most = 0;
    const all = fewAtATime([1, 2, 3, 4, 5], 2, async (item) => {
      await new Promise<void>((resolve) => ends.set(item, resolve));
      most = Math.max(most, ends.size);
      return item * 10;
    });
    // Always the younger one first.
    for (const item of [2, 3, 4, 5, 1]) {
      ends.get(item)?.();
      ends.delete(item);
      await new Promise(setImmediate);
    }
    expect(await all).toEqual([10, 20, 30, 40, 50]);
    expect(most).toBeLessThanOrEqual(2);
  });

  it('has nothing to do for nothing', async () => {
    expect(await fewAtATime([], 3, async () => 1)).toEqual([]);
  });
});
