import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { aborted, settlesWithin, sleep } from './sleep.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('ends a sleep with its time or its signal, and leaves no timer', async () => {
  const stop = new AbortController();
  const [timed, stopped] = [sleep(10), sleep(1_000, stop.signal)];
  await vi.advanceTimersByTimeAsync(10);
  await timed;
  stop.abort();
  await stopped;
  await sleep(1_000, stop.signal);
  expect(vi.getTimerCount()).toBe(0);
});

it('tells whether work settled in time', async () => {
  const never = new Promise(() => {});
  expect(await settlesWithin(Promise.resolve(), 0, AbortSignal.abort())).toBe(true);
  expect(await settlesWithin(Promise.reject(new Error('failed')), 10)).toBe(true);
  expect(await settlesWithin(never, 1_000, AbortSignal.abort())).toBe(false);
  const late = settlesWithin(never, 10);
  await vi.advanceTimersByTimeAsync(10);
  expect(await late).toBe(false);
  expect(vi.getTimerCount()).toBe(0);
});

it('resolves with the first signal that aborts', async () => {
  const [one, two] = [new AbortController(), new AbortController()];
  const first = aborted(one.signal, two.signal);
  two.abort();
  await first;
  await aborted(one.signal, two.signal);
});
