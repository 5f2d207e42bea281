import { describe, expect, it } from 'vitest';
import { isQuiet, noiseBetween, parseSomeTotal, type RoundNoise, readCounters } from './noise.ts';

const round = (cpuSome: number | undefined, steal = 0): RoundNoise => ({
  round: { cpuSome, ioSome: 0, steal },
  reference: { cpuSome, ioSome: 0, steal: 0 },
});

describe('noise', () => {
  it('reads the running total of "some" and takes its absence for unknown', () => {
    expect(parseSomeTotal('some avg10=0.59 avg60=0.72 avg300=1.06 total=9891499\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n')).toBe(
      9_891_499,
    );
    expect(parseSomeTotal(undefined)).toBeUndefined();
  });

  it('turns counters into shares of the time between them', () => {
    const before = { atMs: 0, cpuSomeUs: 1_000, ioSomeUs: undefined, stealTicks: 5, totalTicks: 100 };
    const after = { atMs: 100, cpuSomeUs: 26_000, ioSomeUs: 3, stealTicks: 6, totalTicks: 120 };
    expect(noiseBetween(before, after)).toEqual({ cpuSome: 0.25, ioSome: undefined, steal: 0.05 });
  });

  it('reads this machine', () => {
    expect(readCounters().totalTicks).toBeGreaterThan(0);
  });

  it('drops rounds with steal above 2 % and those whose reference had twice the usual pressure', () => {
    expect(isQuiet([round(0.1), round(0.1, 0.03), round(0.12), round(0.5), round(0.11)])).toEqual([true, false, true, false, true]);
  });

  it('keeps small pressure on a quiet machine and everything where the kernel does not tell', () => {
    expect(isQuiet([round(0), round(0), round(0.015)])).toEqual([true, true, true]);
    expect(isQuiet([round(undefined), round(undefined)])).toEqual([true, true]);
  });
});
