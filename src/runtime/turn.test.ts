import { expect, it } from 'vitest';
import { Turn } from './turn.ts';

/** Work that only makes more work of its own kind, as passes do that find everything in memory. */
async function work(turn: Turn, isOver: () => boolean): Promise<number> {
  let passes = 0;
  for (; !isOver() && passes < 1_000_000; passes++) await turn.pause();
  return passes;
}

it('lets others have their turn while there is work without end', async () => {
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  }, 1);
  const passes = await work(new Turn({ sliceMs: 1 }), () => isOver);
  expect(passes).toBeLessThan(1_000_000);
});

it('asks nobody to wait while the turn is young, and everybody when it is old', async () => {
  let nowMs = 0;
  const turn = new Turn({ sliceMs: 4, nowMs: () => nowMs });
  expect([turn.pause(), turn.pause()]).toEqual([undefined, undefined]);
  nowMs = 4;
  const [first, second] = [turn.pause(), turn.pause()];
  expect(first).toBeInstanceOf(Promise);
  expect(second).toBe(first);
  await first;
  expect(turn.pause()).toBeUndefined();
});
