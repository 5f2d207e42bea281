import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { timeLimit } from './time-limit.ts';

setFlagsFromString('--expose_gc');
const collectGarbage: () => void = runInNewContext('gc');

it('is over in time also where only AbortSignal.any() knows of it, whatever the garbage collector does', async () => {
  const other = new AbortController();
  const either = AbortSignal.any([other.signal, timeLimit(100)]);
  const deeper = AbortSignal.any([either, new AbortController().signal]);
  for (const until = performance.now() + 20_000; !deeper.aborted && performance.now() < until; await pause(10)) collectGarbage();
  expect([either.aborted, deeper.aborted]).toEqual([true, true]);
  expect(deeper.reason).toMatchObject({ name: 'TimeoutError' });
});
