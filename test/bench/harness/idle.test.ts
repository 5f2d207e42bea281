import { describe, expect, it } from 'vitest';
import { cpuMs, parseOnCpuMs } from './idle.ts';

describe('the CPU time of a process', () => {
  it.each([
    ['1532000000 20000 345\n', 1_532],
    ['', 0],
  ])('is the first number of %j', (text, want) => expect(parseOnCpuMs(text)).toBe(want));

  it('grows with work', () => {
    const before = cpuMs(process.pid);
    for (const until = performance.now() + 30; performance.now() < until; );
    expect(cpuMs(process.pid)).toBeGreaterThan(before);
  });
});
