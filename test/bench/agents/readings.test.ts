import { expect, it } from 'vitest';
import { BenchError } from '../harness/operation.ts';
import { parseCpuMs } from './cpu-group.ts';
import { parsePrivateMiB } from './private-memory.ts';

it('reads the CPU time of a control group in ms', () => {
  expect(parseCpuMs('usage_usec 3243226\nuser_usec 2554878\nsystem_usec 688348\n')).toBeCloseTo(3243.226);
});

it('has no CPU time where the group does not tell', () => {
  expect(parseCpuMs('nr_periods 0\n')).toBeNaN();
});

it('adds up what memory is private, clean or dirty, and nothing that is shared', () => {
  const rollup = 'Rss:  42500 kB\nShared_Clean:  36000 kB\nPrivate_Clean:  1024 kB\nPrivate_Dirty:  4608 kB\nPrivate_Hugetlb:  0 kB\n';
  expect(parsePrivateMiB(rollup)).toBeCloseTo(5.5);
});

it('does not take silence for no memory', () => {
  expect(() => parsePrivateMiB('')).toThrow(BenchError);
});
