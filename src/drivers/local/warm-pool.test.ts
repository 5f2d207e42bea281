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

  it.each([
    ['of its team, which is gone', KIND.team],
    ['whose room is needed', undefined],
  ])('ends one %s, also when it was only being started', async (_, team) => {
    const { pool, started } = newPool();
    pool.refill(KIND);
    // The first one is under way: it is asked for, and nobody has it yet.
    while (started.length === 0) await Promise.resolve();
    expect(pool.size).toEqual({ agents: 1, memoryMiB: 256 });
    pool.shrink(team);
    expect(pool.size).toEqual({ agents: 0, memoryMiB: 0 });
    await pool.settled();
    expect(started.map(({ isRemoved }) => isRemoved)).toEqual([true]);
    expect(await pool.take('a', KIND)).toBeUndefined();
  });

  it('keeps one that is being started when another team goes', async () => {
    const { pool, started } = newPool();
    pool.refill(KIND);
    while (started.length === 0) await Promise.resolve();
    pool.shrink(KIND.team + 1);
    await pool.settled();
    expect(started.map(({ isRemoved }) => isRemoved)).toEqual([false, false]);
  });

  it('does without where none can be for now, and that is no problem', async () => {
    const { pool, started, problems } = newPool(1);
    pool.refill(KIND);
    await pool.settled();
    expect([started.length, problems]).toEqual([1, []]);
  });
});
