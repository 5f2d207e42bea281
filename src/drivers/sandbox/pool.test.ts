import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WorkspacePlan, WorkspaceSpec } from '../driver.ts';
import { kindOf, type MemberKind, type PlacedMember, type PoolOptions, plannedKind, SandboxPool } from './pool.ts';

const SPEC: WorkspaceSpec = {
  id: 'a',
  incarnation: 'i',
  hostname: 'h',
  resources: { vcpus: 1, memoryMiB: 512, diskGiB: 1 },
  team: 1,
  egress: false,
};

class FakeMember implements PlacedMember {
  isReady = true;
  isRemoved = false;
  network = '';
  readonly kind: MemberKind;
  readonly ended: Promise<void>;
  end!: () => void;

  constructor(kind: MemberKind) {
    this.kind = kind;
    this.ended = new Promise((resolve) => {
      this.end = () => {
        this.isReady = false;
        resolve();
      };
    });
  }

  isIn(network: string): boolean {
    return network === this.network;
  }

  async remove(): Promise<void> {
    this.isRemoved = true;
    this.end();
  }
}

function newPool(size = 2, { fails = () => false, ...more }: { fails?: () => boolean } & Partial<PoolOptions<FakeMember>> = {}) {
  const started: FakeMember[] = [];
  const problems: unknown[] = [];
  const start = async (kind: MemberKind): Promise<FakeMember> => {
    if (fails()) throw new Error('no room on this machine');
    const member = new FakeMember(kind);
    started.push(member);
    return member;
  };
  const onProblem = (error: unknown) => problems.push(error);
  const pool = new SandboxPool<FakeMember>({ size, start, onProblem, quietMs: 0, ...more });
  /** As a driver does. */
  const ask = async (spec: WorkspaceSpec) => {
    const taken = await pool.take(spec);
    pool.refill(spec);
    return taken;
  };
  /** So that there are members of its kind. */
  const learn = async (spec: WorkspaceSpec) => {
    await ask({ ...spec, id: 'first' });
    await pool.settled();
  };
  return { pool, ask, learn, started, problems };
}

describe('kindOf', () => {
  it.each<[string, Partial<WorkspaceSpec>]>([
    ['another team', { team: 2 }],
    ['other limits', { resources: { vcpus: 2, memoryMiB: 512, diskGiB: 1 } }],
    ['a proxy', { egress: true }],
    ['a base', { base: '/base' }],
    ['a prepared network', { network: '/run/netns/a' }],
    ['tools', { tools: '/tools' }],
  ])('tells %s apart', (_, change) => {
    expect(kindOf({ ...SPEC, ...change })).not.toEqual(kindOf(SPEC));
  });

  it('does not look at names', () => {
    expect(kindOf({ ...SPEC, id: 'b', incarnation: 'j', hostname: 'k' })).toEqual(kindOf(SPEC));
  });

  it('is known before there is a network', () => {
    const { id, resources, team, egress } = SPEC;
    const plan = { id, resources: { ...resources, image: 'base' }, team, egress, hasBase: true, tools: '/tools' };
    expect(plannedKind(plan)).toEqual(kindOf({ ...SPEC, base: '/base', network: '/run/netns/a', tools: '/tools' }));
  });
});

describe('SandboxPool', () => {
  it('starts nothing until somebody asks, then keeps its size', async () => {
    const { pool, ask, started } = newPool();
    expect(started).toEqual([]);
    expect(await ask(SPEC)).toBeUndefined();
    await pool.settled();
    expect(started).toHaveLength(2);
    expect(await ask(SPEC)).toBe(started[0]);
    await pool.settled();
    expect(started).toHaveLength(3);
  });

  it('gives a member away once, and only to its own kind', async () => {
    const { pool, ask, started } = newPool();
    await ask(SPEC);
    await pool.settled();
    expect(await pool.take({ ...SPEC, team: 2 })).toBeUndefined();
    expect([await pool.take(SPEC), await pool.take(SPEC), await pool.take(SPEC)]).toEqual([started[0], started[1], undefined]);
  });

  it('gives away none that is not ready, and takes away what has ended, of every kind', async () => {
    const { pool, ask, started } = newPool();
    await ask(SPEC);
    await pool.settled();
    const [first, second] = started as [FakeMember, FakeMember];
    first.end();
    second.isReady = false;
    expect(await ask({ ...SPEC, team: 2 })).toBeUndefined();
    expect(await ask(SPEC)).toBeUndefined();
    expect([first.isRemoved, second.isRemoved]).toEqual([true, false]);
  });

  it('has bounds over all kinds', async () => {
    const { pool, ask, started } = newPool(8);
    for (const team of [1, 2, 3]) await ask({ ...SPEC, team });
    await pool.settled();
    expect([started.length, pool.size]).toEqual([10, { agents: 10, memoryMiB: 5_120 }]);
    const heavy = newPool(8);
    await heavy.ask({ ...SPEC, resources: { vcpus: 1, memoryMiB: 4_096, diskGiB: 1 } });
    await heavy.pool.settled();
    expect(heavy.started).toHaveLength(2);
  });

  it('starts no more than the machine has room for', async () => {
    const { pool, ask, started } = newPool(8, { hasRoom: ({ agents, memoryMiB }) => agents <= 3 && memoryMiB <= 1_024 });
    await ask(SPEC);
    await pool.settled();
    expect(started).toHaveLength(2);
  });

  it('does without when a start fails, and tries again when it is asked again', async () => {
    let isFull = true;
    const { pool, ask, started, problems } = newPool(2, { fails: () => isFull });
    expect(await ask(SPEC)).toBeUndefined();
    await pool.settled();
    expect(problems).toHaveLength(1);
    isFull = false;
    expect(await ask(SPEC)).toBeUndefined();
    await pool.settled();
    expect(started).toHaveLength(2);
  });

  it('takes everything away when it is closed, and gives nothing more', async () => {
    const { pool, ask, started } = newPool();
    await ask(SPEC);
    await pool.close();
    expect(started.every(({ isRemoved }) => isRemoved)).toBe(true);
    expect(await ask(SPEC)).toBeUndefined();
    await pool.settled();
    expect(started.every(({ isRemoved }) => isRemoved)).toBe(true);
  });

  it('starts nothing ahead while the one who asked is still being served', async () => {
    const { pool, ask, started } = newPool();
    await ask(SPEC);
    await pool.settled();
    expect(await pool.take(SPEC)).toBe(started[0]);
    await pool.settled();
    expect(started).toHaveLength(2);
    pool.refill(SPEC);
    await pool.settled();
    expect(started).toHaveLength(3);
  });

  it('ends what waits for a team that is gone, or everything where room is needed', async () => {
    const { pool, ask, started } = newPool(1);
    for (const team of [1, 2, 3]) await ask({ ...SPEC, team });
    await pool.settled();
    pool.shrink(2);
    expect(started.map(({ isRemoved }) => isRemoved)).toEqual([false, true, false]);
    pool.shrink();
    expect([started.every(({ isRemoved }) => isRemoved), pool.size.agents]).toEqual([true, 0]);
  });

  it('of size 0 is none', async () => {
    const { pool, ask, started } = newPool(0);
    expect(await ask(SPEC)).toBeUndefined();
    await pool.settled();
    expect(started).toEqual([]);
  });

  describe('of members whose networks are prepared later', () => {
    const connected = (id: string, network: string) => ({ ...SPEC, id, network });
    const plan = (id: string, more: Partial<WorkspacePlan> = {}): WorkspacePlan => {
      const { resources, team, egress } = SPEC;
      return { id, resources, team, egress, hasBase: false, ...more };
    };

    it('keeps one for the workspace that asks, whose network is then made around it', async () => {
      const { pool, learn, started } = newPool();
      await learn(connected('x', '/n/x'));
      const [first, second] = started as [FakeMember, FakeMember];
      expect([pool.reserve(plan('b')), pool.reserve(plan('c')), pool.reserve(plan('b')), pool.reserve(plan('d'))]).toEqual([
        ...[first, second, first, undefined],
      ]);
      expect(pool.size.agents).toBe(0);
      first.network = '/n/b';
      expect(await pool.take(connected('b', '/n/b'))).toBe(first);
      expect([first.isRemoved, second.isRemoved]).toEqual([false, false]);
    });

    it('gives none to whoever has not reserved it', async () => {
      const { pool, learn, started } = newPool();
      await learn(connected('x', '/n/x'));
      for (const member of started) member.network = '/n/b';
      expect([await pool.take(connected('b', '/n/b')), await pool.take({ ...SPEC, id: 'b' })]).toEqual([undefined, undefined]);
      expect(pool.reserve(plan('b', { team: 2 }))).toBeUndefined();
      expect(pool.reserve(plan('b', { hasBase: true }))).toBeUndefined();
    });

    it.each<[string, Partial<WorkspaceSpec>]>([
      ['has got another network', { network: '/n/other' }],
      ['asks for other limits by now', { resources: { vcpus: 4, memoryMiB: 512, diskGiB: 1 } }],
    ])('ends what was kept for a workspace that %s', async (_, change) => {
      const { pool, learn, started } = newPool(1);
      await learn(connected('x', '/n/x'));
      const kept = pool.reserve(plan('b'));
      (started[0] as FakeMember).network = '/n/b';
      expect(await pool.take({ ...connected('b', '/n/b'), ...change })).toBeUndefined();
      expect([kept === started[0], kept?.isRemoved]).toEqual([true, true]);
    });

    it('ends what is given up, and what has ended is nobody’s', async () => {
      const { pool, learn } = newPool();
      await learn(connected('x', '/n/x'));
      const [kept, other] = [pool.reserve(plan('b')), pool.reserve(plan('c'))];
      await pool.giveUp('b');
      expect([kept?.isRemoved, other?.isRemoved]).toEqual([true, false]);
      other?.end();
      await other?.ended;
      expect([other?.isRemoved, await pool.take(connected('c', ''))]).toEqual([true, undefined]);
    });
  });

  describe('as time goes by', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    it('starts nothing ahead until nobody has asked for a while', async () => {
      const { ask, started } = newPool(2, { quietMs: 2_000 });
      for (const id of ['a', 'b', 'c']) {
        await ask({ ...SPEC, id });
        await vi.advanceTimersByTimeAsync(1_900);
      }
      expect(started).toEqual([]);
      await vi.advanceTimersByTimeAsync(200);
      expect(started).toHaveLength(2);
    });

    it('does not wait for that when it is closed', async () => {
      const { pool, ask, started } = newPool(2, { quietMs: 2_000 });
      await ask(SPEC);
      await pool.close();
      expect(started).toEqual([]);
    });

    it('does not keep a member for ever for a workspace that is held up', async () => {
      const { pool, learn, started } = newPool(1);
      await learn({ ...SPEC, network: '/n/x' });
      const { resources, team, egress } = SPEC;
      expect(pool.reserve({ id: 'b', resources, team, egress, hasBase: false })).toBe(started[0]);
      await vi.advanceTimersByTimeAsync(29_000);
      expect(started[0]?.isRemoved).toBe(false);
      await vi.advanceTimersByTimeAsync(2_000);
      expect(started[0]?.isRemoved).toBe(true);
    });
  });
});
