import { expect, it } from 'vitest';
import { FewAtOnce } from './few-at-once.ts';

it('lets in so many, the others in their order as places become free, also after a failure', async () => {
  const few = new FewAtOnce(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = (index: number) => () =>
    new Promise<number>((resolve, reject) => {
      begun.push(index);
      ends.push(() => (index === 1 ? reject(new Error('one failed')) : resolve(index)));
    });
  const runs = [0, 1, 2, 3].map((index) => few.run(work(index)));
  const results = Promise.allSettled(runs);
  expect(begun).toEqual([0, 1]);
  ends[1]?.();
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  ends[2]?.();
  await expect.poll(() => begun).toEqual([0, 1, 2, 3]);
  ends[0]?.();
  ends[3]?.();
  expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(await few.run(async () => 'room again')).toBe('room again');
});
