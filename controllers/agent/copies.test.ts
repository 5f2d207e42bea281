import { describe, expect, it } from 'vitest';
import { API_VERSION } from '#api/meta.ts';
import type { Agent, Snapshot } from '#api/types.ts';
import { Gate } from '#lib/gate.ts';
import { conditionOf, newAgent } from '../../test/support/controllers.ts';
import { running, setUp } from './agent.fixture.ts';
import { problemOf } from './copies.ts';
import type { AgentDeps } from './deps.ts';

const AT = '2026-01-02T03:04:05Z';

/** A snapshot `s` of the agent `one`, taken by the fake driver. */
function snapshotOf(status: object = { phase: 'Ready', driver: 'process', commit: 'c0ffee' }): Snapshot {
  return {
    apiVersion: API_VERSION,
    kind: 'Snapshot',
    metadata: { name: 's', uid: 'snap' },
    spec: { team: 'a', agent: 'one' },
    status,
  } as Snapshot;
}

async function restoring(more: Partial<AgentDeps> = {}) {
  const world = await running();
  const controller = world.newController({ snapshotOf: async () => snapshotOf(), ...more });
  world.sessions.beat(world.id);
  await world.driver.snapshots?.take(world.id, 'snap', AbortSignal.timeout(1_000));
  const ask = async (at = AT) => {
    const now = world.agent() as Agent;
    await world.client.update<Agent>({ ...now, spec: { ...now.spec, restore: { snapshot: 's', at } } });
  };
  await ask();
  const settle = async (using = controller) => {
    for (let pass = 0; pass < 10; pass++) {
      await world.look(using).catch(() => undefined);
      world.pass(250);
    }
  };
  return { ...world, controller, ask, settle };
}

describe('an agent that is to be taken back', () => {
  it('is ended, gets the files, and starts as another run, once for each time it is asked', async () => {
    const { agent, driver, id, settle, ask, ctx } = await restoring();
    await settle();
    const once = [`create ${id} run-1`, `take ${id} snap`, `stop ${id}`, `stop ${id}`, `restore ${id} snap`, `create ${id} run-2`];
    expect(driver.calls).toEqual(once);
    expect(agent()?.status).toMatchObject({ phase: 'Ready', incarnation: 'run-2', restored: { snapshot: 's', at: AT } });
    expect([agent()?.status?.restarts, conditionOf(agent(), 'RestorePending')]).toEqual([undefined, undefined]);
    expect(ctx.recorded.map(({ reason }) => reason)).toEqual(['RestorePending', 'Restored']);
    await settle();
    expect(driver.calls).toEqual(once);
    await ask('2026-01-02T04:00:00Z');
    await settle();
    expect(agent()?.status).toMatchObject({ phase: 'Ready', incarnation: 'run-3' });
  });

  it('goes on while it holds a task, and says so', async () => {
    const tasks = { count: 1 };
    const { agent, driver, settle } = await restoring({ pulledTasks: () => tasks.count });
    await settle();
    expect(driver.calls).not.toContainEqual(expect.stringMatching(/^stop/));
    expect(conditionOf(agent(), 'RestorePending')).toBe('True TaskRunning: its files are taken back to snapshot s when it holds no Task');
    expect(conditionOf(agent(), 'Ready')).toBe('True Running: ');
    tasks.count = 0;
    await settle();
    expect(agent()?.status).toMatchObject({ incarnation: 'run-2' });
  });

  it('runs on when there is no such snapshot', async () => {
    const { agent, driver, settle } = await restoring({ snapshotOf: async () => undefined });
    await settle();
    expect(conditionOf(agent(), 'RestorePending')).toMatch(/^True SnapshotNotFound: there is no such snapshot of agent one/);
    expect([conditionOf(agent(), 'Ready'), driver.calls.length]).toEqual(['True Running: ', 2]);
  });

  it('is taken back by the next daemon when this one fails or ends in the middle', async () => {
    const { agent, driver, id, settle, newController, pass, look } = await restoring();
    const failing = newController({ snapshotOf: async () => snapshotOf() });
    await look(failing);
    pass(600);
    await look(failing).catch(() => undefined);
    await look(failing).catch(() => undefined);
    driver.failures.push(undefined, new Error('the disk is full'));
    await look(failing).catch(() => undefined);
    await settle(newController({ snapshotOf: async () => snapshotOf() }));
    expect(driver.calls.slice(-2)).toEqual([`restore ${id} snap`, expect.stringMatching(`^create ${id} `)]);
    expect(agent()?.status).toMatchObject({ phase: 'Ready', restored: { at: AT } });
  });
});

describe('an agent that begins as a copy', () => {
  async function forked(snapshot: Snapshot | undefined, more: Partial<AgentDeps> = {}) {
    const world = setUp();
    const bases: string[] = [];
    const controller = world.newController({
      snapshotOf: async () => snapshot,
      takeBase: async (from, to) => void bases.push(`${from} ${to}`),
      placeOf: async () => ({ team: 1, egress: false, git: { forkBase: 'base', branch: 'agents/a/one' } }),
      ...more,
    });
    const source = { agent: 'one', snapshot: 's' };
    await world.client.create<Agent>(newAgent('one', { source }));
    await world.setNetwork('True');
    const { uid } = (world.agent() as Agent).metadata;
    // Of another workspace, as far as the fake driver knows.
    await world.driver.create(
      { id: 'source', incarnation: 'x', hostname: 'x', resources: { vcpus: 1, memoryMiB: 1, diskGiB: 1 }, team: 1, egress: false },
      AbortSignal.timeout(1_000),
    );
    await world.driver.snapshots?.take('source', 'snap', AbortSignal.timeout(1_000));
    return { ...world, controller, bases, uid };
  }

  it('gets its files before it starts, and its work begins where it was forked', async () => {
    const { look, controller, agent, driver, uid, bases } = await forked(snapshotOf());
    expect(await look(controller)).toEqual({ requeueAfterMs: 1 });
    expect(agent()?.status).toMatchObject({ source: { agent: 'one', snapshot: 's', commit: 'c0ffee' } });
    await look(controller);
    expect(driver.calls.slice(2)).toEqual([`restore ${uid} snap`, `create ${uid} run-1`]);
    expect(bases).toEqual([`snap ${uid}`]);
    expect(agent()?.status?.git).toEqual({ forkBase: 'c0ffee', branch: 'agents/a/one' });
  });

  it('waits for its turn, and gives it to the next', async () => {
    const starts = new Gate(() => 1);
    starts.enter('another');
    const { look, controller, agent, driver } = await forked(snapshotOf(), { starts });
    await look(controller).catch(() => undefined);
    expect(conditionOf(agent(), 'WorkspaceReady')).toMatch(/^False StartsUnderWay: 1 forks or machines are starting/);
    expect(driver.calls.some((call) => call.startsWith('restore'))).toBe(false);
    starts.leave('another');
    await look(controller);
    expect(agent()?.status?.source).toMatchObject({ snapshot: 's' });
    expect(starts.enter('the next')).toBe(true);
  });

  it.each([
    [undefined, 'False SnapshotNotFound: there is no such snapshot of agent one; create it, or delete what asks for it'],
    [snapshotOf({}), 'False SnapshotPending: waiting for snapshot s'],
    [
      snapshotOf({ phase: 'Ready', driver: 'vm' }),
      'False SnapshotUnusable: snapshot s was taken with the vm driver, and the agent has process',
    ],
  ])('does not start without it', async (snapshot, want) => {
    const { look, controller, agent, driver } = await forked(snapshot);
    await look(controller).catch(() => undefined);
    expect(conditionOf(agent(), 'Ready')).toBe(want);
    expect(driver.calls).toHaveLength(2);
  });
});

it('takes no snapshot of another agent or team', () => {
  const driver = setUp().driver;
  expect(problemOf(snapshotOf(), { of: 'two', team: 'a', driver })?.message).toBe('snapshot s is of agent one in team a');
  expect(problemOf(snapshotOf(), { of: 'one', team: 'b', driver })?.reason).toBe('SnapshotNotFound');
  expect(problemOf(snapshotOf(), { of: 'one', team: 'a', driver })).toBeUndefined();
});
