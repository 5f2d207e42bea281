import { describe, expect, it } from 'vitest';
import { seededRandom, shuffled } from './random.ts';
import { estimateMedian, median, percentile } from './stats.ts';

describe('percentile', () => {
  it.each([
    { samples: [3, 1, 2], fraction: 0.5, want: 2 },
    { samples: [4, 1, 3, 2], fraction: 0.5, want: 2.5 },
    { samples: [10, 20, 30, 40, 50], fraction: 0.9, want: 46 },
    { samples: [7], fraction: 0.99, want: 7 },
    { samples: [10, 9, 100], fraction: 0, want: 9 },
  ])('of $samples at $fraction is $want', ({ samples, fraction, want }) => {
    expect(percentile(samples, fraction)).toBeCloseTo(want, 10);
  });

  it('refuses to make up a number from nothing', () => {
    expect(() => median([])).toThrow(RangeError);
  });

  it('leaves its input as it was', () => {
    const samples = [3, 1, 2];
    median(samples);
    expect(samples).toEqual([3, 1, 2]);
  });
});

describe('bootstrap interval', () => {
  it('is the same for the same seed', () => {
    const samples = Array.from({ length: 20 }, (_, index) => index * 0.05);
    expect(estimateMedian(samples, seededRandom(5))).toEqual(estimateMedian(samples, seededRandom(5)));
  });

  it('has no width when all rounds agree', () => {
    expect(estimateMedian([0.6, 0.6, 0.6], seededRandom(1))).toEqual({ median: 0.6, low: 0.6, high: 0.6 });
  });

  it('covers the true median in about 95 of 100 experiments', () => {
    const random = seededRandom(42);
    let covered = 0;
    for (let experiment = 0; experiment < 100; experiment += 1) {
      const { low, high } = estimateMedian(
        Array.from({ length: 20 }, () => random()),
        random,
      );
      if (low <= 0.5 && high >= 0.5) covered += 1;
    }
    expect(covered).toBeGreaterThanOrEqual(88);
  });
});

describe('seeded order', () => {
  it('repeats with its seed, changes with another and keeps every item', () => {
    const items = Array.from({ length: 20 }, (_, index) => index);
    const first = shuffled(items, seededRandom(1));
    expect(shuffled(items, seededRandom(1))).toEqual(first);
    expect(shuffled(items, seededRandom(2))).not.toEqual(first);
    expect(first.toSorted((a, b) => a - b)).toEqual(items);
  });
});
