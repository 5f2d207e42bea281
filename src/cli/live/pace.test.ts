import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { pace } from './pace.ts';

describe('pace', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('works at once, then at most once per interval, and not without being asked', () => {
    let count = 0;
    const { request } = pace(() => count++, 100);
    request();
    expect(count).toBe(1);
    for (let at = 0; at < 50; at++) request();
    expect(count).toBe(1);
    vi.advanceTimersByTime(100);
    expect(count).toBe(2);
    vi.advanceTimersByTime(1_000);
    expect(count).toBe(2);
    request();
    expect(count).toBe(3);
  });

  it('does nothing after it was stopped', () => {
    let count = 0;
    const { request, stop } = pace(() => count++, 100);
    request();
    request();
    stop();
    request();
    vi.advanceTimersByTime(1_000);
    expect(count).toBe(1);
  });
});
