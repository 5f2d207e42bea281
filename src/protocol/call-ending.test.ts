import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CallEnding } from './call-ending.ts';
import { ProtocolError } from './protocol-error.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const cancelled = new ProtocolError('Unavailable', 'cancelled');

describe('the ending of a call', () => {
  it('runs no clock before somebody asks for the signal, and counts from the beginning then', () => {
    const ending = new CallEnding(100);
    vi.advanceTimersByTime(60);
    expect(vi.getTimerCount()).toBe(0);
    const { signal } = ending;
    vi.advanceTimersByTime(39);
    expect(signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(signal.reason).toMatchObject({ code: 'Timeout', message: 'not done within 100 ms' });
  });

  it('is known to who asks after it', () => {
    const ending = new CallEnding(undefined);
    ending.abort(cancelled);
    expect(ending.signal.reason).toBe(cancelled);
    const late = new CallEnding(10);
    vi.advanceTimersByTime(50);
    const { signal } = late;
    vi.advanceTimersByTime(0);
    expect(signal.reason).toMatchObject({ code: 'Timeout' });
  });

  it('leaves no clock behind when the call is over', () => {
    const ending = new CallEnding(100);
    expect(ending.signal.aborted).toBe(false);
    ending.settle();
    const other = new CallEnding(100);
    other.settle();
    expect(other.signal.aborted).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});
