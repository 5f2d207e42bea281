import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Soon } from './soon.ts';

describe('work soon after a hint', () => {
  let startedAtMs: number[] = [];
  let finish = () => {};
  const soon = (isSlow = false) =>
    new Soon({
      quietMs: 50,
      patienceMs: 300,
      work: () => {
        startedAtMs.push(performance.now());
        return isSlow ? new Promise((resolve) => (finish = resolve)) : Promise.resolve();
      },
    });

  beforeEach(() => {
    startedAtMs = [];
    vi.useFakeTimers();
  });
  afterEach(() => void vi.useRealTimers());

  it('is done once for hints that come close together', async () => {
    const start = performance.now();
    const one = soon();
    one.hint();
    await vi.advanceTimersByTimeAsync(30);
    one.hint();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(startedAtMs).toEqual([start + 80]);
  });

  it('is not put off for ever by hints that never pause', async () => {
    const start = performance.now();
    const one = soon();
    for (let at = 0; at < 350; at += 10) {
      one.hint();
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(startedAtMs).toEqual([start + 300]);
    await one.stop();
  });

  it('is done at the earliest of several times, then not again', async () => {
    const start = performance.now();
    const one = soon();
    one.within(5_000);
    one.within(2_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(startedAtMs).toEqual([start + 2_000]);
  });

  it('is never done twice at once: a hint that comes meanwhile is heard afterwards', async () => {
    const one = soon(true);
    one.within(0);
    await vi.advanceTimersByTimeAsync(0);
    one.hint();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(startedAtMs).toHaveLength(1);
    finish();
    await vi.advanceTimersByTimeAsync(50);
    expect(startedAtMs).toHaveLength(2);
    finish();
  });

  it('is over when stopped, after what runs has ended', async () => {
    const one = soon(true);
    one.within(0);
    await vi.advanceTimersByTimeAsync(0);
    let isStopped = false;
    const stopping = one.stop().then(() => (isStopped = true));
    one.hint();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isStopped).toBe(false);
    finish();
    await stopping;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(startedAtMs).toHaveLength(1);
  });
});
