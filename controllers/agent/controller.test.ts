import { describe, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { StalledError, UnavailableError } from '#lib/errors.ts';
import { bench, conditionOf, newAgent } from '../../test/support/controllers.ts';
import { type FakeDriverOptions, fakeDriver } from '../../test/support/fake-driver.ts';
import { AGENT_FINALIZER, agentController, restartDelayMs, shouldRestart, workspaceCondition } from './controller.ts';

function setUp(options: FakeDriverOptions = {}) {
  const world = bench();
  const driver = fakeDriver(options);
  let incarnations = 0;
  const newController = (driverFor: (agent: Agent) => typeof driver = () => driver) =>
    agentController({ driverFor, newIncarnation: () => `run-${++incarnations}`, workspaceChanges: () => () => {} });
  const controller = newController();
  const agent = () => world.get<Agent>('Agent', 'one');
  return { ...world, driver, controller, newController, agent, look: (using = controller) => world.reconcile(using, 'Agent', 'one') };
}

async function running(options: FakeDriverOptions = {}, spec: Record<string, unknown> = {}) {
  const world = setUp(options);
  const { metadata } = await world.client.create<Agent>(newAgent('one', spec));
  await world.look();
  return { ...world, id: metadata.uid };
}

describe('the five standard cases', () => {
  it('converges from empty: the finalizer first, then a workspace named by the uid', async () => {
    const { driver, agent, id } = await running();
    expect(driver.calls).toEqual([`create ${id} run-1`]);
    expect(agent()?.metadata.finalizers).toEqual([AGENT_FINALIZER]);
    expect(agent()?.status).toMatchObject({
      phase: 'Ready',
      incarnation: 'run-1',
      workspaceId: id,
      pid: 1_000,
      isolation: { driver: 'process', network: 'none', limits: 'none' },
      observedGeneration: 1,
    });
    expect([conditionOf(agent(), 'Ready'), conditionOf(agent(), 'WorkspaceReady')]).toEqual(['True Running: ', 'True Running: ']);
  });

  it('changes nothing on the second pass', async () => {
    const { driver, agent, look, pass } = await running();
    const before = agent();
    pass(60_000);
    expect(await look()).toEqual({});
    expect(agent()).toBe(before);
    expect(driver.calls).toHaveLength(1);
  });

  it('follows a changed spec: Stopped ends the workspace, Running starts a new one', async () => {
    const { client, driver, agent, look, id } = await running();
    const set = async (desiredState: 'Running' | 'Stopped') => {
      const now = agent() as Agent;
      await client.update<Agent>({ ...now, spec: { ...now.spec, desiredState } });
    };
    await set('Stopped');
    expect(await look()).toEqual({ requeueAfterMs: 100 });
    expect(agent()?.status?.phase).toBe('Stopping');
    expect(await look()).toEqual({});
    expect(driver.workspaces.get(id)?.phase).toBe('exited');
    expect(agent()?.status).toMatchObject({ phase: 'Stopped', observedGeneration: 2 });
    for (const type of ['Ready', 'WorkspaceReady']) expect(conditionOf(agent(), type)).toBe('False Stopped: spec.desiredState is Stopped');
    expect(agent()?.status?.pid).toBeUndefined();
    await set('Running');
    await look();
    expect(driver.calls).toEqual([`create ${id} run-1`, `stop ${id}`, `stop ${id}`, `create ${id} run-2`]);
    expect(agent()?.status).toMatchObject({ phase: 'Ready', incarnation: 'run-2' });
  });

  it('says why it failed, and recovers', async () => {
    const { client, driver, agent, look, ctx } = setUp();
    await client.create<Agent>(newAgent('one'));
    driver.failures.push(new UnavailableError('no memory left', { reason: 'NoMemory' }));
    await expect(look()).rejects.toThrow('no memory left');
    expect(conditionOf(agent(), 'Ready')).toBe('False NoMemory: no memory left');
    expect(ctx.recorded).toEqual([{ type: 'Warning', object: 'one', reason: 'NoMemory', message: 'no memory left' }]);
    await look();
    expect(conditionOf(agent(), 'Ready')).toBe('True Running: ');
  });

  it('keeps the finalizer until the driver proves the workspace gone, also when that fails', async () => {
    const { client, driver, agent, look, id } = await running();
    await client.delete({ kind: 'Agent', namespace: 'default', name: 'one' });
    driver.failures.push(new UnavailableError('the driver is busy'));
    await expect(look()).rejects.toThrow('the driver is busy');
    expect(await look()).toEqual({ requeueAfterMs: 100 });
    expect(agent()?.status?.phase).toBe('Stopping');
    expect(driver.workspaces.has(id)).toBe(true);
    await look();
    expect([agent(), driver.workspaces.size]).toEqual([undefined, 0]);
  });
});

describe('deletion', () => {
  const isolationGone = () => {
    throw new StalledError('IsolationUnavailable', 'this machine offers process');
  };

  it('of an agent that could never start does not wait for a driver that does not exist', async () => {
    const { client, agent, newController, look } = setUp();
    const controller = newController(isolationGone);
    await client.create<Agent>(newAgent('one'));
    await look(controller);
    expect(agent()?.status?.phase).toBe('Failed');
    expect(conditionOf(agent(), 'Ready')).toBe('False IsolationUnavailable: this machine offers process');
    await client.delete({ kind: 'Agent', namespace: 'default', name: 'one' });
    await look(controller);
    expect(agent()).toBeUndefined();
  });

  it('looks where the workspace is, not where the changed spec would put it', async () => {
    const { client, driver, agent, newController, look } = await running({}, { isolation: { driver: 'process' } });
    const now = agent() as Agent;
    await client.update<Agent>({ ...now, spec: { ...now.spec, isolation: { driver: 'vm', minimum: 'vm' } } });
    await client.delete({ kind: 'Agent', namespace: 'default', name: 'one' });
    const controller = newController(({ spec: { isolation } }) =>
      isolation?.driver === 'process' && isolation.minimum === undefined ? driver : isolationGone(),
    );
    await look(controller);
    await look(controller);
    expect([agent(), driver.workspaces.size]).toEqual([undefined, 0]);
  });
});

describe('a workspace that starts slowly', () => {
  it('is looked at again until its guest answers', async () => {
    const { driver, agent, look, id } = await running({ bootsAtOnce: false });
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    expect(conditionOf(agent(), 'Ready')).toBe('False Starting: waiting for the guest agent');
    driver.boot(id);
    expect(await look()).toEqual({});
    expect(agent()?.status?.phase).toBe('Ready');
  });
});

describe('a workspace that exits', () => {
  it('is started again after a pause that doubles, and is not ready meanwhile', async () => {
    const { driver, agent, look, pass, id, ctx } = await running();
    driver.exit(id, 'killed by SIGKILL');
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    expect(agent()?.status).toMatchObject({ phase: 'Starting', restarts: 1 });
    const waiting = 'False BackOff: the workspace exited (killed by SIGKILL); it starts again in 1 s';
    expect([conditionOf(agent(), 'Ready'), conditionOf(agent(), 'WorkspaceReady')]).toEqual([
      waiting,
      expect.stringMatching(/^False Exited: /),
    ]);
    pass(999);
    expect(await look()).toEqual({ requeueAfterMs: 1 });
    pass(1);
    await look();
    expect(driver.calls.at(-1)).toBe(`create ${id} run-2`);
    expect(agent()?.status).toMatchObject({ phase: 'Ready', incarnation: 'run-2', restarts: 1 });
    driver.exit(id, 'again');
    expect(await look()).toEqual({ requeueAfterMs: 2_000 });
    expect(ctx.recorded.map(({ reason, message }) => `${reason}: ${message}`)).toEqual([
      'Restarting: the workspace exited (killed by SIGKILL), restart 1 of 5',
      'Restarting: the workspace exited (again), restart 2 of 5',
    ]);
  });

  async function crashLoop() {
    const world = await running();
    for (let restart = 1; restart <= 5; restart++) {
      world.driver.exit(world.id, `crash ${restart}`);
      const { requeueAfterMs = 0 } = await world.look();
      world.pass(requeueAfterMs);
      await world.look();
    }
    world.driver.exit(world.id, 'crash 6');
    return world;
  }

  it('is given up after five restarts, and a person is told', async () => {
    const { driver, agent, look, pass } = await crashLoop();
    expect(await look()).toEqual({});
    expect(agent()?.status).toMatchObject({ phase: 'Failed', restarts: 6 });
    expect(conditionOf(agent(), 'Ready')).toBe('False CrashLoop: the workspace exited 6 times; last: crash 6');
    pass(3_600_000);
    await look();
    expect(driver.calls).toHaveLength(6);
  });

  it('gets a fresh start after a person stopped it and let it run again', async () => {
    const { client, driver, agent, look, id } = await crashLoop();
    await look();
    for (const desiredState of ['Stopped', 'Running'] as const) {
      const now = agent() as Agent;
      await client.update<Agent>({ ...now, spec: { ...now.spec, desiredState } });
      await look();
      await look();
    }
    expect(agent()?.status?.phase).toBe('Ready');
    driver.exit(id, 'once more');
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
  });

  it.each([
    { policy: 'Never', failure: 'broken', phase: 'Failed', ready: 'False Exited: broken' },
    {
      policy: 'Never',
      failure: undefined,
      phase: 'Stopped',
      ready: 'False Exited: the workspace exited and restartPolicy does not start it again',
    },
    {
      policy: 'OnFailure',
      failure: undefined,
      phase: 'Stopped',
      ready: 'False Exited: the workspace exited and restartPolicy does not start it again',
    },
  ])('stays down with $policy after $failure, and is $phase', async ({ policy, failure, phase, ready }) => {
    const { driver, agent, look, id } = await running({}, { restartPolicy: policy });
    driver.exit(id, failure);
    expect(await look()).toEqual({});
    expect(agent()?.status?.phase).toBe(phase);
    expect(conditionOf(agent(), 'Ready')).toBe(ready);
    expect(agent()?.status?.pid).toBeUndefined();
    expect(driver.calls).toHaveLength(1);
  });

  it.each(['Always', 'OnFailure', 'Never'])(
    'with an earlier daemon is started at once by the next one, also with %s',
    async (restartPolicy) => {
      const { driver, agent, newController, look, id } = await running({}, { restartPolicy });
      driver.exit(id);
      await look(newController());
      expect(driver.calls.at(-1)).toBe(`create ${id} run-2`);
      expect(agent()?.status?.phase).toBe('Ready');
    },
  );

  it('and was seen to, stays down under the next daemon if its policy says so', async () => {
    const { driver, agent, newController, look, id } = await running({}, { restartPolicy: 'Never' });
    driver.exit(id);
    await look();
    await look(newController());
    expect([agent()?.status?.phase, driver.calls.length]).toEqual(['Stopped', 1]);
  });

  it('is kept running when this daemon did not start it', async () => {
    const { driver, newController, look, id } = await running();
    await look(newController());
    expect(driver.calls).toEqual([`create ${id} run-1`]);
  });
});

describe('a person who asks for what this version cannot do', () => {
  it('is told so, and nothing starts', async () => {
    const { agent, driver, ctx } = await running({}, { desiredState: 'Suspended' });
    const message = 'this version does not act on spec.desiredState Suspended; remove it to start the agent';
    expect(conditionOf(agent(), 'Ready')).toBe(`False NotSupportedYet: ${message}`);
    expect([driver.calls, ctx.recorded.length]).toEqual([[], 1]);
  });
});

describe('pure decisions', () => {
  it.each<[policy: 'Always' | 'OnFailure' | 'Never', failure: string | undefined, want: boolean]>([
    ['Always', undefined, true],
    ['Always', 'x', true],
    ['OnFailure', undefined, false],
    ['OnFailure', 'x', true],
    ['Never', undefined, false],
    ['Never', 'x', false],
  ])('shouldRestart with %s after %s is %s', (restartPolicy, failure, want) => {
    const workspace = { id: 'a', incarnation: 'b', phase: 'exited' as const, ...(failure === undefined ? {} : { failure }) };
    expect(shouldRestart({ spec: { restartPolicy } } as Agent, workspace)).toBe(want);
  });

  it.each([
    [1, 1_000],
    [2, 2_000],
    [5, 16_000],
    [6, 30_000],
    [100, 30_000],
  ])('restart %i waits %i ms', (restart, delay) => {
    expect(restartDelayMs(restart)).toBe(delay);
  });

  it.each([
    { phase: 'starting' as const, want: { status: 'False', reason: 'Starting' } },
    { phase: 'running' as const, want: { status: 'True', reason: 'Running' } },
    { phase: 'exited' as const, want: { status: 'False', reason: 'Exited' } },
  ])('workspaceCondition of $phase', ({ phase, want }) => {
    expect(workspaceCondition({ id: 'a', incarnation: 'b', phase })).toMatchObject(want);
  });
});

it('forgets the exits of an agent that has run well for ten minutes', async () => {
  const { driver, agent, look, pass, id } = await running({}, { restartPolicy: 'Always' });
  driver.exit(id, 'once');
  await look();
  pass(1_000);
  await look();
  expect(agent()?.status?.restarts).toBe(1);
  pass(11 * 60_000);
  driver.exit(id, 'and again');
  await look();
  expect(agent()?.status?.restarts).toBe(1);
});
