import { describe, expect, it } from 'vitest';
import type { WorkspaceSpec } from '../driver.ts';
import { type ConnectedMember, kindOf, type MemberKind, SandboxPool, type SpareNetwork } from './pool.ts';

const SPEC: WorkspaceSpec = {
  id: 'a',
  incarnation: 'i',
  hostname: 'h',
  resources: { vcpus: 1, memoryMiB: 512, diskGiB: 1 },
  team: 1,
  egress: false,
};

interface FakeMember extends ConnectedMember {
  readonly kind: MemberKind;
  hasEnded: boolean;
  isReady: boolean;
  isRemoved: boolean;
}

function newPool(size = 2, { fails = () => false, networks }: { fails?: () => boolean; networks?: string[] } = {}) {
  const started: FakeMember[] = [];
  const problems: unknown[] = [];
  const start = async (kind: MemberKind, network: SpareNetwork | undefined): Promise<FakeMember> => {
    if (fails()) throw new Error('no room on this machine');
    const member: FakeMember = {
      ...{ kind, isReady: true, hasEnded: false, isRemoved: false, ...(network && { network: network.path }) },
      async remove() {
        member.isRemoved = true;
      },
    };
    started.push(member);
    return member;
  };
  const nextNetwork = async () => {
    const path = networks?.shift();
    return path === undefined ? undefined : { path };
  };
  const onProblem = (error: unknown) => problems.push(error);
  const pool = new SandboxPool<FakeMember>({ size, start, onProblem, ...(networks && { nextNetwork }) });
  /** As a driver does. */
  const ask = (spec: WorkspaceSpec) => {
    const taken = pool.take(spec);
    pool.refill(spec);
    return taken;
  };
  return { pool, ask, started, problems };
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
});

describe('SandboxPool', () => {
  it('starts nothing until somebody asks, then keeps its size', async () => {
    const { pool, ask, started } = newPool();
    expect(started).toEqual([]);
    expect(ask(SPEC)).toBeUndefined();
    await pool.settled();
    expect(started).toHaveLength(2);
    expect(ask(SPEC)).toBe(started[0]);
    await pool.settled();
    expect(started).toHaveLength(3);
  });

  it('gives a member away once, and only to its own kind', async () => {
    const { pool, ask, started } = newPool();
    ask(SPEC);
    await pool.settled();
    expect(ask({ ...SPEC, team: 2 })).toBeUndefined();
    expect([ask(SPEC), ask(SPEC), ask(SPEC)]).toEqual([started[0], started[1], undefined]);
  });

  it('gives away none that is not ready, and takes away what has ended', async () => {
    const { pool, ask, started } = newPool();
    ask(SPEC);
    await pool.settled();
    const [first, second] = started;
    if (first === undefined || second === undefined) throw new Error('there should be two');
    first.isReady = false;
    first.hasEnded = true;
    second.isReady = false;
    expect(ask(SPEC)).toBeUndefined();
    expect([first.isRemoved, second.isRemoved]).toEqual([true, false]);
  });

  it('has bounds over all kinds', async () => {
    const { pool, ask, started } = newPool(8);
    for (const team of [1, 2, 3]) ask({ ...SPEC, team });
    await pool.settled();
    expect(started).toHaveLength(10);
    const heavy = newPool(8);
    heavy.ask({ ...SPEC, resources: { vcpus: 1, memoryMiB: 4_096, diskGiB: 1 } });
    await heavy.pool.settled();
    expect(heavy.started).toHaveLength(2);
  });

  it('does without when a start fails, and tries again when it is asked again', async () => {
    let isFull = true;
    const { pool, ask, started, problems } = newPool(2, { fails: () => isFull });
    expect(ask(SPEC)).toBeUndefined();
    await pool.settled();
    expect(problems).toHaveLength(1);
    isFull = false;
    expect(ask(SPEC)).toBeUndefined();
    await pool.settled();
    expect(started).toHaveLength(2);
  });

  it('takes everything away when it is closed, and gives nothing more', async () => {
    const { pool, ask, started } = newPool();
    ask(SPEC);
    await pool.close();
    expect(started.every(({ isRemoved }) => isRemoved)).toBe(true);
    expect(ask(SPEC)).toBeUndefined();
  });

  it('starts nothing ahead while the one who asked is still being served', async () => {
    const { pool, ask, started } = newPool();
    ask(SPEC);
    await pool.settled();
    expect(pool.take(SPEC)).toBe(started[0]);
    await pool.settled();
    expect(started).toHaveLength(2);
    pool.refill(SPEC);
    await pool.settled();
    expect(started).toHaveLength(3);
  });

  describe('of members in prepared networks', () => {
    const connected = (network: string) => ({ ...SPEC, network });

    it('gives a member to the workspace that has its network and to no other', async () => {
      const { pool, ask, started } = newPool(2, { networks: ['/n/1', '/n/2', '/n/3'] });
      expect(ask(connected('/n/0'))).toBeUndefined();
      await pool.settled();
      expect(started.map(({ network }) => network)).toEqual(['/n/1', '/n/2']);
      expect([pool.take(SPEC), pool.take(connected('/n/0')), pool.take({ ...connected('/n/2'), team: 2 })]).toEqual([
        ...[undefined, undefined, undefined],
      ]);
      expect(ask(connected('/n/2'))).toBe(started[1]);
      await pool.settled();
      expect(started.map(({ network }) => network)).toEqual(['/n/1', '/n/2', '/n/3']);
    });

    it('starts none where no network is to spare', async () => {
      const { pool, ask, started, problems } = newPool(2, { networks: ['/n/1'] });
      ask(connected('/n/0'));
      await pool.settled();
      expect([started.length, problems]).toEqual([1, []]);
    });

    it('starts none where nobody prepares networks ahead', async () => {
      const { pool, ask, started } = newPool();
      expect(ask(connected('/n/0'))).toBeUndefined();
      await pool.settled();
      expect(started).toEqual([]);
    });
  });

  it('of size 0 is none', async () => {
    const { pool, ask, started } = newPool(0);
    expect(ask(SPEC)).toBeUndefined();
    await pool.settled();
    expect(started).toEqual([]);
  });
});
