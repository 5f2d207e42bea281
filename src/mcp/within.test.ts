import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { within } from './within.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const forever = () => new Promise<never>(() => {});
const open = () => new AbortController();

describe('within', () => {
  it('gives what the work gives, and leaves no timer and no listener', async () => {
    const { signal } = open();
    const remove = vi.spyOn(signal, 'removeEventListener');
    await expect(within(1_000, signal, async () => 7)).resolves.toBe(7);
    expect(vi.getTimerCount()).toBe(0);
    expect(remove).toHaveBeenCalledTimes(1);
  });

  it('ends at the deadline, also work that does not listen', async () => {
    let seen: AbortSignal | undefined;
    const work = within(2_000, open().signal, (signal) => {
      seen = signal;
      return forever();
    });
    const ended = expect(work).rejects.toMatchObject({ code: 'Timeout', message: 'the call took longer than its 2 s' });
    await vi.advanceTimersByTimeAsync(1_999);
    expect(seen?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(seen?.aborted).toBe(true);
  });

  it('ends with the outer signal, and leaves no timer', async () => {
    const outer = open();
    let seen: AbortSignal | undefined;
    const work = within(2_000, outer.signal, (signal) => {
      seen = signal;
      return forever();
    });
    outer.abort(new Error('gone'));
    await expect(work).rejects.toThrow('gone');
    expect([seen?.aborted, vi.getTimerCount()]).toEqual([true, 0]);
  });

  it('does not begin for whoever is gone already', async () => {
    const work = vi.fn(forever);
    await expect(within(1_000, AbortSignal.abort(new Error('gone')), work)).rejects.toThrow('gone');
    expect([work.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('passes failures on, also those of work that throws at once', async () => {
    const failing = () => {
      throw new Error('bad');
    };
    await expect(within(1_000, open().signal, failing)).rejects.toThrow('bad');
    await expect(within(1_000, open().signal, async () => failing())).rejects.toThrow('bad');
    expect(vi.getTimerCount()).toBe(0);
  });
});
