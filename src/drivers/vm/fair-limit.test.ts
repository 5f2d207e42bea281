import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fairLimit, waitedForProcessorMs } from './fair-limit.ts';

describe('a limit that counts no time without a processor', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    { name: 'one that never waited', waitedMs: () => 0, overMs: 1_000 },
    { name: 'one that waited has as much longer', waitedMs: () => 600, overMs: 1_600 },
    { name: 'one that waits and waits is given up at last', waitedMs: () => performance.now(), overMs: 5_000 },
  ])('$name: over after $overMs ms', ({ waitedMs, overMs }) => {
    const limit = fairLimit(1_000, waitedMs);
    vi.advanceTimersByTime(overMs - 1);
    expect(limit.aborted).toBe(false);
    vi.advanceTimersByTime(2);
    expect(limit.reason).toMatchObject({ name: 'TimeoutError' });
  });
});

describe('the time that a process waited for a processor', () => {
  it('is none for one that is gone', () => {
    expect([waitedForProcessorMs(undefined), waitedForProcessorMs(2 ** 30)]).toEqual([0, 0]);
  });

  it.skipIf(!existsSync('/proc/self/schedstat'))('is seen of whatever it has started, too', async () => {
    // Three on one processor: each waits for the others.
    const busy = spawn('taskset', ['-c', '0', 'sh', '-c', 'for i in 1 2 3; do sh -c "while :; do :; done" & done; wait'], {
      detached: true,
    });
    const ended = once(busy, 'exit');
    try {
      await vi.waitFor(() => expect(waitedForProcessorMs(busy.pid)).toBeGreaterThan(100), { timeout: 30_000 });
    } finally {
      process.kill(-(busy.pid ?? Number.NaN), 'SIGKILL');
    }
    await ended;
  });
});
