import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ObjectKey } from '#api/meta.ts';
import { silentLogger } from '#lib/log.ts';
import { Schedule } from './schedule.ts';

const KEY: ObjectKey = { kind: 'Box', namespace: 'default', name: 'a' };
const OTHER: ObjectKey = { ...KEY, name: 'b' };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setUp() {
  const looked: string[] = [];
  return { looked, schedule: new Schedule(({ name }) => void looked.push(name), silentLogger) };
}

describe('Schedule', () => {
  it('does one piece of work per file after the other, and different files side by side', async () => {
    const { schedule } = setUp();
    const done: string[] = [];
    let release = () => {};
    schedule.run(KEY, async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      done.push('a1');
    });
    schedule.run(KEY, async () => void done.push('a2'));
    schedule.run(OTHER, async () => void done.push('b'));
    await vi.advanceTimersByTimeAsync(0);
    expect([done, schedule.isBusy(KEY), schedule.isBusy(OTHER)]).toEqual([['b'], true, false]);
    release();
    await schedule.idle();
    expect([done, schedule.isBusy(KEY)]).toEqual([['b', 'a1', 'a2'], false]);
  });

  it('looks again, a second later, at a file whose work failed, and is not idle before', async () => {
    const { schedule, looked } = setUp();
    let isIdle = false;
    schedule.run(KEY, async () => {
      throw new Error('disk full');
    });
    void schedule.idle().then(() => {
      isIdle = true;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect([looked, isIdle]).toEqual([[], false]);
    await vi.advanceTimersByTimeAsync(1);
    expect([looked, isIdle]).toEqual([['a'], true]);
  });

  it('has at most one later look per file', async () => {
    const { schedule, looked } = setUp();
    schedule.later(KEY, 10);
    schedule.later(KEY, 5);
    schedule.later(OTHER, 5);
    await vi.advanceTimersByTimeAsync(100);
    expect(looked).toEqual(['b', 'a']);
  });

  it('ends its work and forgets its looks when it is closed', async () => {
    const { schedule, looked } = setUp();
    const done: string[] = [];
    schedule.run(KEY, async () => void done.push('a'));
    schedule.later(OTHER, 5);
    await schedule.close();
    schedule.later(OTHER, 5);
    await vi.advanceTimersByTimeAsync(100);
    expect([done, looked]).toEqual([['a'], []]);
    await schedule.idle();
  });
});
