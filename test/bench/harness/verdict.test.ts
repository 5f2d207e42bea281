import { describe, expect, it } from 'vitest';
import { atLeast, atMost, EXIT_CODES, judge, worstOf } from './verdict.ts';

describe('judge', () => {
  it.each([
    { name: 'at most, all of the interval below', low: 0.5, high: 0.69, goal: atMost(0.7), want: 'pass' },
    { name: 'at most, the far end on the goal', low: 0.5, high: 0.7, goal: atMost(0.7), want: 'pass' },
    { name: 'at most, the goal inside', low: 0.5, high: 0.71, goal: atMost(0.7), want: 'undecided' },
    { name: 'at most, all of it above', low: 0.71, high: 0.9, goal: atMost(0.7), want: 'fail' },
    { name: 'at least, all of it above', low: 3.1, high: 4, goal: atLeast(3), want: 'pass' },
    { name: 'at least, the goal inside', low: 2.9, high: 4, goal: atLeast(3), want: 'undecided' },
    { name: 'at least, all of it below', low: 2, high: 2.9, goal: atLeast(3), want: 'fail' },
    { name: 'no number at all', low: Number.NaN, high: Number.NaN, goal: atMost(1), want: 'fail' },
  ])('$name: $want', ({ low, high, goal, want }) => {
    expect(judge({ median: (low + high) / 2, low, high }, goal)).toBe(want);
  });

  it('ends with 0 only when everything passed, with 3 when nothing failed', () => {
    expect(EXIT_CODES[worstOf(['pass', 'pass'])]).toBe(0);
    expect(EXIT_CODES[worstOf(['pass', 'undecided'])]).toBe(3);
    expect(EXIT_CODES[worstOf(['undecided', 'fail', 'pass'])]).toBe(1);
  });
});
