/** Goals, and what may be said about them: never "pass" or "fail" while the interval straddles the goal. */
import type { Estimate } from './stats.ts';

export type Verdict = 'pass' | 'undecided' | 'fail';

export interface Goal {
  readonly bound: 'at most' | 'at least';
  readonly value: number;
}

export const atMost = (value: number): Goal => ({ bound: 'at most', value });
export const atLeast = (value: number): Goal => ({ bound: 'at least', value });

export function judge({ low, high }: Estimate, { bound, value }: Goal): Verdict {
  const [worst, best] = bound === 'at most' ? [high, low] : [low, high];
  const meets = (end: number): boolean => (bound === 'at most' ? end <= value : end >= value);
  if (meets(worst)) return 'pass';
  return meets(best) ? 'undecided' : 'fail';
}

export function worstOf(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes('fail')) return 'fail';
  return verdicts.includes('undecided') ? 'undecided' : 'pass';
}

export const EXIT_CODES: Readonly<Record<Verdict, number>> = { pass: 0, fail: 1, undecided: 3 };
