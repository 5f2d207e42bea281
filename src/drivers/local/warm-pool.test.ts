import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type PoolMember, WarmPool } from './warm-pool.ts';

/** What else holds for every pool is told of sandboxes. */
const KIND = { team: 1, resources: { memoryMiB: 256 } };
const IDLE_MS = 300_000;

interface FakeMember extends PoolMember {
  isRemoved: boolean;
}

function newPool(limit = 10) {
  const started: FakeMember[] = [];
  const start = async () => {
    if (started.length >= limit) return undefined;
    const member: FakeMember = {
      ...{ isReady: true, ended: new Promise<void>(() => {}), isRemoved: false },
      async remove() {
        member.isRemoved = true;
      },
    };
    started.push(member);
    return member;
  };
  const problems: unknown[] = [];
  const pool = new WarmPool<typeof KIND, FakeMember>({
    ...{ size: 2, quietMs: 0, start, idleMs: IDLE_MS },
    onProblem: (error) => problems.push(error),
  });
  return { pool, started, problems };
}

describe('a warm pool', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('takes members away that nobody has asked for in a while, and has others when they are wanted again', async () => {
    const { pool, started } = newPool();
    pool.refill(KIND);
    await pool.settled();
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect(await pool.take('a', { ...KIND, resources: { memoryMiB: 512 } })).toBeUndefined();
    expect(await pool.take('a', KIND)).toBe(started[0]);
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect(started[1]?.isRemoved).toBe(false);
    vi.advanceTimersByTime(1);
    expect(started.map(({ isRemoved }) => isRemoved)).toEqual([false, true]);
    expect(await pool.take('a', KIND)).toBeUndefined();
    pool.refill(KIND);
    await pool.settled();
    expect(await pool.take('a', KIND)).toBe(started[2]);
  });

  it('does without where none can be for now, and that is no problem', async () => {
    const { pool, started, problems } = newPool(1);
    pool.refill(KIND);
    await pool.settled();
    expect([started.length, problems]).toEqual([1, []]);
  });
});
