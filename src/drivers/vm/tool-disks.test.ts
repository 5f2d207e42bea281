import { expect, it } from 'vitest';
import { sizeFor } from './tool-disks.ts';

it('takes one of few sizes, with room to spare', () => {
  const mib = 1024 ** 2;
  expect([0, 500, 870, 880, 1_700, 3_900].map((each) => sizeFor(each * mib))).toEqual([1, 1, 1, 2, 2, 8]);
});
