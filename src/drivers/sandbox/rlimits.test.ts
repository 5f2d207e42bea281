import { describe, expect, it } from 'vitest';
import { limitCommand, parseHardLimits, readHardLimits } from './rlimits.ts';

const RESOURCES = { vcpus: 1, memoryMiB: 256, diskGiB: 2 };
const LIMITS = `Limit                     Soft Limit           Hard Limit           Units     
Max file size             unlimited            unlimited            bytes     
Max processes             100                  1000                 processes 
Max open files            1024                 524288               files     
`;

describe('parseHardLimits', () => {
  it('reads what the kernel writes', () => {
    expect([...parseHardLimits(LIMITS)]).toEqual([
      ['Max file size', Number.POSITIVE_INFINITY],
      ['Max processes', 1000],
      ['Max open files', 524288],
    ]);
  });

  it('reads the limits of this process', () => {
    expect(readHardLimits().get('Max open files')).toBeGreaterThan(0);
  });
});

describe('limitCommand', () => {
  it('never asks for more than there is', () => {
    const expected = ['prlimit', '--core=0', '--nproc=1000', '--nofile=4096', '--fsize=2147483648', '--'];
    expect(limitCommand(RESOURCES, parseHardLimits(LIMITS))).toEqual(expected);
  });
});
