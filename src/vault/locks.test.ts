import { expect, it } from 'vitest';
import { Locks } from './locks.ts';

/** Work that ends when it is told to. */
function held() {
  const state = { began: false, end: () => {} };
  const ended = new Promise<void>((resolve) => {
    state.end = resolve;
  });
  return {
    state,
    work: async () => {
      state.began = true;
      await ended;
    },
  };
}

const turn = () => new Promise(setImmediate);

it('lets readers in together, a writer alone, and nobody overtake', async () => {
  const locks = new Locks();
  const [first, second, writer, late] = [held(), held(), held(), held()];
  const all = [locks.shared('x', first.work), locks.shared('x', second.work), locks.alone('x', writer.work), locks.shared('x', late.work)];
  const began = () => [first, second, writer, late].map(({ state }) => state.began);
  await turn();
  expect(began()).toEqual([true, true, false, false]);
  first.state.end();
  await turn();
  expect(began()).toEqual([true, true, false, false]);
  second.state.end();
  await turn();
  expect(began()).toEqual([true, true, true, false]);
  writer.state.end();
  await turn();
  expect(began()).toEqual([true, true, true, true]);
  late.state.end();
  await Promise.all(all);
});

it('is free again after a failure, and does not keep other names', async () => {
  const locks = new Locks();
  await expect(
    locks.alone('x', async () => {
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  const other = held();
  const holding = locks.alone('y', other.work);
  expect(await locks.alone('x', async () => 'in')).toBe('in');
  other.state.end();
  await holding;
});
