import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeCrash } from './crash-log.ts';
import { watchLifetime } from './lifetime.ts';

describe('watchLifetime', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'hrtime'] }));
  afterEach(() => void vi.useRealTimers());

  function watch(state: { isReachable: boolean; isNeeded: boolean }): string[] {
    const reasons: string[] = [];
    watchLifetime({ isReachable: () => state.isReachable, isNeeded: () => state.isNeeded, stop: (reason) => reasons.push(reason) });
    return reasons;
  }

  it('goes on for as long as somebody needs the guest', () => {
    const reasons = watch({ isReachable: true, isNeeded: true });
    vi.advanceTimersByTime(86_400_000);
    expect(reasons).toEqual([]);
  });

  it('stops after ten minutes that nobody needed it', () => {
    const state = { isReachable: true, isNeeded: true };
    const reasons = watch(state);
    vi.advanceTimersByTime(3_600_000);
    state.isNeeded = false;
    vi.advanceTimersByTime(595_000);
    expect(reasons).toEqual([]);
    vi.advanceTimersByTime(5_000);
    expect(reasons[0]).toBe('idle and without a host for 600 s');
  });

  it('counts from anew whenever somebody comes', () => {
    const state = { isReachable: true, isNeeded: false };
    const reasons = watch(state);
    for (let i = 0; i < 10; i++) {
      vi.advanceTimersByTime(590_000);
      state.isNeeded = true;
      vi.advanceTimersByTime(5_000);
      state.isNeeded = false;
    }
    expect(reasons).toEqual([]);
  });

  it('does not count the time for which it was held still', () => {
    const reasons = watch({ isReachable: true, isNeeded: false });
    vi.advanceTimersByTime(5_000);
    const clock = vi.spyOn(process.hrtime, 'bigint').mockReturnValue(process.hrtime.bigint() + 3_600_000_000_000n);
    vi.advanceTimersByTime(5_000);
    clock.mockRestore();
    expect(reasons).toEqual([]);
  });

  it('stops within five seconds when nobody can come any more', () => {
    const state = { isReachable: true, isNeeded: true };
    const reasons = watch(state);
    state.isReachable = false;
    vi.advanceTimersByTime(5_000);
    expect(reasons).toEqual(['its run directory is gone']);
  });
});

describe('writeCrash', () => {
  it('adds to what is there and keeps the last 64 KiB, from the beginning of a line', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'agentiso-crash-'));
    const path = join(directory, 'crash.log');
    const now = new Date('2030-01-02T03:04:05.678Z');
    writeCrash(directory, 'first', now);
    writeCrash(directory, 'second\n    at somewhere', now);
    expect(await readFile(path, 'utf8')).toBe('2030-01-02T03:04:05.678Z first\n2030-01-02T03:04:05.678Z second\n    at somewhere\n');
    await writeFile(path, 'an old line of some length\n'.repeat(5000));
    writeCrash(directory, 'newest', now);
    const text = await readFile(path, 'utf8');
    expect(text.length).toBeLessThanOrEqual(65_536);
    expect(text.length).toBeGreaterThan(65_000);
    expect(text.startsWith('an old line')).toBe(true);
    expect(text.endsWith('\n2030-01-02T03:04:05.678Z newest\n')).toBe(true);
    await rm(directory, { recursive: true });
  });
});
