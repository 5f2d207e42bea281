import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QuickWrites } from './quick-writes.ts';

beforeEach(() => vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => vi.useRealTimers());

const learnt = (...tookMs: readonly number[]) => {
  const quick = new QuickWrites();
  for (const ms of tookMs) quick.learn(ms);
  return quick;
};

describe('writes', () => {
  it.each([
    ['are tried in place first', [], true],
    ['are quick on a quick disk', [0.2, 0.3, 0.2, 0.2], true],
    ['stay so when one in four is slow', Array.from({ length: 40 }, (_, index) => (index % 4 === 0 ? 8 : 0.2)), true],
    ['are not on a slow disk', Array.from({ length: 8 }, () => 3), false],
  ])('%s', (_, took, expected) => expect(learnt(...took).areUsual).toBe(expected));

  it('on a slow disk are tried again after a while, and are quick again once it has become so', () => {
    const quick = learnt(...Array.from({ length: 30 }, () => 3));
    for (let probe = 0; probe < 8; probe++) {
      vi.advanceTimersByTime(250);
      expect(quick.areUsual).toBe(true);
      quick.learn(0.2);
    }
    expect(quick.areUsual).toBe(true);
    quick.learn(0.2);
    expect(quick.areUsual).toBe(true);
  });
});
