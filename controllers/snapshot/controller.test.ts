import { describe, expect, it } from 'vitest';
import { API_VERSION, type Draft } from '#api/meta.ts';
import type { Agent, Snapshot } from '#api/types.ts';
import { AgentisoError, ConflictError } from '#lib/errors.ts';
import { bench, conditionOf, newAgent } from '../../test/support/controllers.ts';
import { fakeDriver } from '../../test/support/fake-driver.ts';
import { snapshotController } from './controller.ts';
import type { SnapshotDeps } from './deps.ts';

const signal = () => AbortSignal.timeout(1_000);

const NO_GOLDENS: SnapshotDeps['goldens'] = { prepare: async () => undefined, end: async () => undefined, wake: () => () => {} };

/** An agent `one` of team `a` that runs, and a controller. */
async function setUp() {
  const world = bench();
  const driver = fakeDriver({ canRest: true });
  const said: string[] = [];
  const made = await world.client.create<Agent>(newAgent('one'));
  const { uid } = made.metadata;
  const status = { phase: 'Ready', isolation: { driver: 'process' }, git: { head: 'saved', forkBase: 'base' } } as const;
  await world.client.updateStatus<Agent>({ ...made, status });
  const resources = { vcpus: 1, memoryMiB: 64, diskGiB: 1 };
  const start = () => driver.create({ id: uid, incarnation: 'run-1', hostname: 'x', resources, team: 1, egress: false }, signal());
  const controller = snapshotController({
    client: world.client,
    goldens: NO_GOLDENS,
    snapshotting: {
      drivers: [driver],
      watches: [],
      settle: async ({ metadata }) => {
        said.push(`settle ${metadata.name}`);
        return 'newest';
      },
      keepBase: async (agent, snapshot) => void said.push(`keep ${agent.metadata.name} ${snapshot.metadata.name}`),
      forgetBase: async (snapshot) => void said.push(`forget ${snapshot.metadata.name}`),
    },
  });
  const create = (name: string, spec: object = {}) =>
    world.client.create<Snapshot>({
      apiVersion: API_VERSION,
      kind: 'Snapshot',
      metadata: { name, namespace: 'default' },
      spec: { team: 'a', agent: 'one', ...spec },
    } as Draft<Snapshot>);
  const snapshot = (name = 's') => world.get<Snapshot>('Snapshot', name);
  const look = async (name = 's') => {
    for (let pass = 0; pass < 3; pass++) await world.reconcile(controller, 'Snapshot', name).catch(() => undefined);
  };
  return { ...world, driver, said, uid, start, create, snapshot, look };
}

describe('a snapshot', () => {
  it('is taken once, belongs to its agent, and stays as it is', async () => {
    const { create, start, look, snapshot, driver, uid, said } = await setUp();
    await start();
    await create('s');
    await look();
    expect(snapshot()?.metadata.ownerReferences).toMatchObject([{ kind: 'Agent', name: 'one', uid, controller: true }]);
    expect(snapshot()?.status).toMatchObject({
      ...{ phase: 'Ready', bytes: 4_096, agentUid: uid, incarnation: 'run-1', driver: 'process', commit: 'newest' },
      takenAt: '2026-01-02T03:04:05.000Z',
    });
    expect(conditionOf(snapshot(), 'Ready')).toBe('True Taken: ');
    await look();
    expect(driver.calls.slice(1)).toEqual([`take ${uid} ${snapshot()?.metadata.uid}`]);
    expect(said).toEqual(['settle one', 'keep one s']);
  });

  it('waits for a workspace, and asks nothing of an agent that rests', async () => {
    const { create, start, look, snapshot, driver, uid, said } = await setUp();
    await create('s');
    await look();
    expect(conditionOf(snapshot(), 'Ready')).toBe('False AgentNotStarted: waiting for agent one: it has no workspace yet');
    await start();
    await driver.suspension?.suspend(uid, signal());
    await look();
    expect(snapshot()?.status).toMatchObject({ phase: 'Ready', commit: 'saved' });
    expect(said).toEqual(['keep one s']);
  });

  it('is tried again after a failure, and needs a person where the agent cannot stand still for long enough', async () => {
    const { create, start, look, snapshot, driver } = await setUp();
    await start();
    await create('s');
    for (let pass = 0; pass < 2; pass++) driver.failures.push(undefined, new ConflictError('too large'));
    await look();
    expect([snapshot()?.status?.phase, conditionOf(snapshot(), 'Ready')]).toEqual([
      'Failed',
      'False TooLargeToHold: too large; suspend or stop agent one first',
    ]);
    await look();
    expect(snapshot()?.status?.phase).toBe('Ready');
  });

  it('is refused with the numbers where there is no room, and nothing else goes for it', async () => {
    const { create, start, look, snapshot, driver } = await setUp();
    await start();
    await create('s');
    await look();
    await create('t');
    for (let pass = 0; pass < 3; pass++)
      driver.failures.push(undefined, new AgentisoError('QuotaExceeded', 'it may take 5 MiB, and 3 are left'));
    await look('t');
    expect([snapshot('t')?.status?.phase, conditionOf(snapshot('t'), 'Ready')]).toEqual([
      'Failed',
      'False QuotaExceeded: it may take 5 MiB, and 3 are left',
    ]);
    expect(await driver.snapshots?.list()).toEqual([snapshot('s')?.metadata.uid]);
  });

  it('is of an agent that is there, in that team', async () => {
    const { create, look, snapshot } = await setUp();
    await create('s', { agent: 'two' });
    await create('t', { team: 'b' });
    await look();
    await look('t');
    expect(conditionOf(snapshot(), 'Ready')).toMatch(/^False AgentNotFound: there is no agent two/);
    expect(conditionOf(snapshot('t'), 'Ready')).toBe('False AgentNotFound: agent one belongs to team a, not to b');
  });

  it('is the last of twenty', async () => {
    const { create, start, look, snapshot, pass } = await setUp();
    await start();
    for (let n = 1; n <= 21; n++) {
      await create(`s${n}`);
      await look(`s${n}`);
      pass(1_000);
    }
    expect(snapshot('s20')?.status?.phase).toBe('Ready');
    expect(conditionOf(snapshot('s21'), 'Ready')).toBe('False QuotaExceeded: agent one has 20 snapshots, at most 20; delete one first');
  });

  it('goes with its files, but not from under a fork that has not begun, nor when they cannot be removed', async () => {
    const { create, start, look, snapshot, driver, client, get, said } = await setUp();
    await start();
    await create('s');
    await look();
    const fork = await client.create<Agent>(newAgent('fork', { source: { agent: 'one', snapshot: 's' } }));
    await client.delete({ kind: 'Snapshot', namespace: 'default', name: 's' });
    await look();
    expect(conditionOf(snapshot(), 'Ready')).toMatch(/^False InUse: agent fork is to begin as a copy of it/);
    expect(await driver.snapshots?.list()).toHaveLength(1);
    const begun = get<Agent>('Agent', 'fork') ?? fork;
    await client.updateStatus<Agent>({ ...begun, status: { source: { agent: 'one', snapshot: 's' } } });
    driver.failures.push(new Error('busy'));
    await look('none');
    await look();
    expect([snapshot(), await driver.snapshots?.list(), said.at(-1)]).toEqual([undefined, [], 'forget s']);
  });
});
