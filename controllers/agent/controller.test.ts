import { describe, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { AgentisoError, StalledError, UnavailableError } from '#lib/errors.ts';
import { conditionOf, newAgent } from '../../test/support/controllers.ts';
import { running, setUp } from './agent.fixture.ts';
import { workspaceCondition } from './conditions.ts';
import { AGENT_FINALIZER } from './controller.ts';
import { restartDelayMs, shouldRestart } from './restarts.ts';

/** Between two heartbeats. */
const LATER = { requeueAfterMs: expect.any(Number) };

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
    const { driver, agent, look, pass, sessions, cards } = await running();
    const before = agent();
    pass(20_000);
    expect(await look()).toEqual(LATER);
    expect(agent()).toBe(before);
    expect([sessions.calls.map((call) => call.split(' ')[1]), cards.length]).toEqual([['setEnv', 'configure'], 1]);
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
    const { client, driver, agent, look, ctx, setNetwork } = setUp();
    await client.create<Agent>(newAgent('one'));
    await setNetwork('True');
    driver.failures.push(new UnavailableError('no memory left', { reason: 'NoMemory' }));
    await expect(look()).rejects.toThrow('no memory left');
    expect(conditionOf(agent(), 'Ready')).toBe('False NoMemory: no memory left');
    expect(ctx.recorded).toEqual([{ type: 'Warning', object: 'one', reason: 'NoMemory', message: 'no memory left' }]);
    await look();
    expect(conditionOf(agent(), 'Ready')).toBe('True Running: ');
  });

  it('says of the workspace too that a person must act before it can be started', async () => {
    const { client, driver, agent, look, setNetwork } = setUp();
    await client.create<Agent>(newAgent('one'));
    await setNetwork('True');
    driver.create = () => Promise.reject(new StalledError('IsolationUnavailable', 'there is no such program; install it'));
    await look();
    expect(agent()?.status?.phase).toBe('Failed');
    for (const type of ['Ready', 'WorkspaceReady'])
      expect(conditionOf(agent(), type)).toBe('False IsolationUnavailable: there is no such program; install it');
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
    const controller = newController({ driverFor: isolationGone });
    await client.create<Agent>(newAgent('one'));
    await look(controller);
    expect(agent()?.status?.phase).toBe('Failed');
    for (const type of ['Ready', 'WorkspaceReady'])
      expect(conditionOf(agent(), type)).toBe('False IsolationUnavailable: this machine offers process');
    await client.delete({ kind: 'Agent', namespace: 'default', name: 'one' });
    await look(controller);
    expect(agent()).toBeUndefined();
  });

  it('looks where the workspace is, not where the changed spec would put it', async () => {
    const { client, driver, agent, newController, look } = await running({}, { isolation: { driver: 'process' } });
    const now = agent() as Agent;
    await client.update<Agent>({ ...now, spec: { ...now.spec, isolation: { driver: 'vm', minimum: 'vm' } } });
    await client.delete({ kind: 'Agent', namespace: 'default', name: 'one' });
    const controller = newController({
      driverFor: ({ spec: { isolation } }) =>
        isolation?.driver === 'process' && isolation.minimum === undefined ? driver : isolationGone(),
    });
    await look(controller);
    await look(controller);
    expect([agent(), driver.workspaces.size]).toEqual([undefined, 0]);
  });
});

describe('an agent for which there is no room', () => {
  it('waits and says why, starts when there is, and is not ended when there is none any more', async () => {
    const { client, agent, driver, newController, look, setNetwork, sessions } = setUp();
    let isFull = true;
    const message = 'too many agents: 100 of 100';
    const mayStart = () => (isFull ? ({ reason: 'QuotaExceeded', message } as const) : undefined);
    const controller = newController({ mayStart });
    const { metadata } = await client.create<Agent>(newAgent('one'));
    await setNetwork('True');
    expect(await look(controller)).toEqual({ requeueAfterMs: 5_000 });
    expect([agent()?.status?.phase, driver.calls]).toEqual(['Pending', []]);
    for (const type of ['Ready', 'WorkspaceReady']) expect(conditionOf(agent(), type)).toBe(`False QuotaExceeded: ${message}`);
    isFull = false;
    await look(controller);
    sessions.beat(metadata.uid);
    isFull = true;
    await look(controller);
    expect([agent()?.status?.phase, driver.calls]).toEqual(['Ready', [`create ${metadata.uid} run-1`]]);
  });
});

describe('a workspace that starts slowly', () => {
  it('is looked at again until its guest answers', async () => {
    const { driver, agent, look, id } = await running({ bootsAtOnce: false });
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    expect(conditionOf(agent(), 'Ready')).toBe('False Starting: waiting for the guest agent');
    driver.boot(id);
    expect(await look()).toEqual(LATER);
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

  it('is ready for a moment more under the next daemon while its guest is being reached, and not a moment longer', async () => {
    const { agent, look, newController, sessions, pass, id } = await running();
    const before = agent();
    const restart = () => {
      sessions.closeAll();
      sessions.connectsAtOnce = false;
      return newController();
    };
    const next = restart();
    expect(await look(next)).toEqual({ requeueAfterMs: 5_000 });
    expect(agent()).toBe(before);
    sessions.set(id, { isControlOpen: true, isRelayOpen: true });
    await look(next);
    expect(agent()).toBe(before);
    const third = restart();
    await look(third);
    pass(5_000);
    await look(third);
    expect(conditionOf(agent(), 'RelayReady')).toBe('False RelayDisconnected: nobody listens');
    expect(agent()?.status?.phase).toBe('Starting');
  });

  it('is not written for its first heartbeats under the next daemon, however old the last one is, and shows later ones', async () => {
    const { agent, look, newController, sessions, pass, id } = await running();
    sessions.beat(id);
    await look();
    const before = agent();
    expect(before?.status?.lastHeartbeat).toBe('2026-01-02T03:04:05.000Z');
    pass(3_600_000);
    sessions.closeAll();
    const next = newController();
    await look(next);
    for (const afterMs of [0, 10_000, 20_000]) {
      pass(afterMs);
      sessions.beat(id);
      await look(next);
    }
    expect(agent()).toBe(before);
    for (const afterMs of [20_000, 10_000]) {
      pass(afterMs);
      sessions.beat(id);
      await look(next);
    }
    expect(agent()?.status?.lastHeartbeat).toBe('2026-01-02T04:05:05.000Z');
  });

  it('is not ready under the next daemon when its guest was found to be out of reach', async () => {
    const { agent, look, newController, sessions, id } = await running();
    sessions.closeAll();
    sessions.connectsAtOnce = false;
    const next = newController();
    await look(next);
    sessions.set(id, { error: new UnavailableError('refused') });
    await look(next);
    expect(conditionOf(agent(), 'RelayReady')).toBe('False RelayDisconnected: nobody listens');
  });

  it('is kept running when this daemon did not start it', async () => {
    const { driver, newController, look, id } = await running();
    await look(newController());
    expect(driver.calls).toEqual([`create ${id} run-1`]);
  });
});

describe('the session with the guest', () => {
  it('makes the agent ready only when it is connected, and says why it is not', async () => {
    const world = setUp();
    world.sessions.connectsAtOnce = false;
    const { metadata } = await world.client.create<Agent>(newAgent('one'));
    await world.setNetwork('True');
    await world.look();
    expect(world.agent()?.status?.phase).toBe('Starting');
    expect(conditionOf(world.agent(), 'RelayReady')).toBe('False RelayDisconnected: nobody listens');
    expect(conditionOf(world.agent(), 'Ready')).toBe('False RelayDisconnected: nobody listens');
    world.sessions.set(metadata.uid, { isControlOpen: true, isRelayOpen: true });
    await world.look();
    expect([world.agent()?.status?.phase, conditionOf(world.agent(), 'Ready')]).toEqual(['Ready', 'True Running: ']);
  });

  it('shows that the agent works, on its card too', async () => {
    const { sessions, agent, look, cards, id } = await running();
    sessions.beat(id, { runningTasks: [{ taskUid: 't', attempt: 1 }] });
    await look();
    expect(agent()?.status).toMatchObject({ phase: 'Working', lastHeartbeat: '2026-01-02T03:04:05.000Z' });
    expect(cards.at(-1)).toMatchObject({ name: 'one', status: 'working', protocols: ['relay'], endpoints: { http: null } });
  });

  it('is shown on its card as it is also while nothing of it runs, with no address that nobody answers at', async () => {
    const world = setUp();
    await world.client.create<Agent>(newAgent('one'));
    await world.setNetwork('True');
    const controller = world.newController({
      surroundingsOf: async () => ({ httpAddress: '10.99.0.2', agentToken: 'own', teamToken: 'team', peers: {} }),
      parentTeamOf: async () => 'above',
    });
    world.sessions.answers.set('configure', () => ({ httpUrl: 'http://10.99.0.2:8080' }));
    await world.look(controller);
    const up = { status: 'ready', parent_team: 'above', protocols: ['relay', 'http'], endpoints: { http: 'http://10.99.0.2:8080' } };
    expect(world.cards.at(-1)).toMatchObject(up);
    const now = world.agent() as Agent;
    await world.client.update<Agent>({ ...now, spec: { ...now.spec, desiredState: 'Stopped' } });
    for (let i = 0; i < 3; i++) await world.look(controller);
    expect(world.agent()?.status?.phase).toBe('Stopped');
    expect(world.cards.at(-1)).toMatchObject({ status: 'done', url: null, protocols: ['relay'], endpoints: { http: null } });
  });

  it('that cannot start is shown so on its card', async () => {
    const { cards } = await running({}, { envFrom: [{ hostEnv: 'NONE' }] });
    expect(cards).toMatchObject([{ name: 'one', status: 'failed' }]);
  });

  it('gives secrets by name, once, and says which one is missing', async () => {
    const { sessions, look, id } = await running({}, { envFrom: [{ hostEnv: 'KEY' }] });
    await look();
    expect(sessions.calls.filter((call) => call.includes('KEY'))).toEqual([`${id} setEnv {"env":{"KEY":"secret"}}`]);
    const { agent, driver } = await running({}, { envFrom: [{ hostEnv: 'NONE' }] });
    for (const type of ['Ready', 'WorkspaceReady']) {
      expect(conditionOf(agent(), type)).toBe("False SecretMissing: the daemon's environment has no NONE");
    }
    expect([agent()?.status?.phase, driver.calls]).toEqual(['Failed', []]);
  });

  it('tells the agent where its own interface is and what opens it and those of its team mates, in memory, and again when that changes', async () => {
    const world = setUp();
    const { metadata } = await world.client.create<Agent>(newAgent('one'));
    await world.setNetwork('True');
    let teamToken: string | null = 'team-1';
    const controller = world.newController({
      surroundingsOf: async () => ({ httpAddress: '10.99.0.2', agentToken: 'own', teamToken, peers: {} }),
    });
    world.sessions.answers.set('configure', () => ({ httpUrl: 'http://10.99.0.2:8080' }));
    const told = () => world.sessions.calls.filter((call) => call.includes('setEnv'));
    const say = (team: string) =>
      `${metadata.uid} setEnv {"env":{"AGENTISO_HTTP_URL":"http://10.99.0.2:8080","AGENTISO_AGENT_TOKEN":"own","AGENTISO_TEAM_TOKEN":"${team}","AGENTISO_AGENT":"one","AGENTISO_TEAM":"a"}}`;
    await world.look(controller);
    world.sessions.beat(metadata.uid, { runningTasks: [{ taskUid: 't', attempt: 1 }] });
    await world.look(controller);
    expect(told()).toEqual([say('team-1')]);
    teamToken = null;
    await world.look(controller);
    expect(told()).toEqual([say('team-1'), say('')]);
  });

  it('that cannot open the HTTP interface is tried again, and the agent is not ready before', async () => {
    const world = setUp();
    await world.client.create<Agent>(newAgent('one'));
    await world.setNetwork('True');
    world.sessions.answers.set('configure', () => ({ httpProblem: 'port 8080 is busy' }));
    await expect(world.look()).rejects.toMatchObject({ reason: 'HttpBindFailed' });
    for (const type of ['Ready', 'RelayReady']) {
      expect(conditionOf(world.agent(), type)).toBe('False HttpBindFailed: the guest cannot serve HTTP: port 8080 is busy');
    }
    const before = world.agent();
    expect([before?.status?.phase, conditionOf(before, 'WorkspaceReady')]).toEqual(['Starting', 'True Running: ']);
    world.pass(5_000);
    await expect(world.look()).rejects.toMatchObject({ reason: 'HttpBindFailed' });
    expect(world.agent()).toBe(before);
    world.sessions.answers.delete('configure');
    await world.look();
    expect([world.agent()?.status?.phase, conditionOf(world.agent(), 'Ready')]).toEqual(['Ready', 'True Running: ']);
  });

  it('whose connection breaks while it is told is waited for, which is no failure', async () => {
    const world = setUp();
    await world.client.create<Agent>(newAgent('one'));
    await world.setNetwork('True');
    world.sessions.answers.set('configure', () => {
      throw new AgentisoError('Unavailable', 'connection closed: the peer hung up');
    });
    expect(await world.look()).toEqual({ requeueAfterMs: 1_000 });
    expect(conditionOf(world.agent(), 'RelayReady')).toBe('False RelayDisconnected: connection closed: the peer hung up');
    world.sessions.answers.delete('configure');
    await world.look();
    expect(conditionOf(world.agent(), 'Ready')).toBe('True Running: ');
  });

  it('shows the port forwards in force', async () => {
    const { agent } = await running({}, { portForwards: [{ guestPort: 3000 }] });
    expect(agent()?.status?.endpoints).toEqual({ http: null, relayPort: 5001, portForwards: [{ guestPort: 3000, hostPort: 30_000 }] });
  });

  it('that has been silent for 30 s ends the workspace, which then starts again as a new incarnation', async () => {
    const { driver, sessions, agent, look, pass, ctx, id } = await running();
    pass(30_001);
    expect(await look()).toEqual({ requeueAfterMs: 100 });
    await look();
    expect(conditionOf(agent(), 'WorkspaceReady')).toBe('False Exited: the workspace exited (no heartbeat for 30 s)');
    expect(sessions.get(id)).toBeUndefined();
    pass(1_000);
    await look();
    expect(driver.calls).toEqual([`create ${id} run-1`, `stop ${id}`, `stop ${id}`, `create ${id} run-2`]);
    expect(agent()?.status).toMatchObject({ phase: 'Ready', incarnation: 'run-2' });
    expect(ctx.recorded.map(({ reason }) => reason)).toEqual(['HeartbeatLost', 'Restarting']);
  });

  it('of a workspace that is held up may be silent for as long as that takes, and a while longer', async () => {
    const { driver, agent, look, pass, id } = await running();
    driver.holdUp(id, 'the disk is full');
    for (let round = 0; round < 10; round++) {
      expect(await look()).toEqual({ requeueAfterMs: 5_000 });
      pass(5_000);
    }
    expect(conditionOf(agent(), 'Ready')).toBe('False HeldUp: the disk is full');
    driver.holdUp(id, undefined);
    pass(10_000);
    await look();
    expect(conditionOf(agent(), 'Ready')).toBe('True Running: ');
    expect(agent()?.status).toMatchObject({ phase: 'Ready', incarnation: 'run-1' });
    expect(driver.calls).toEqual([`create ${id} run-1`]);
  });
});

describe('the network', () => {
  it('must be there before a sandbox starts', async () => {
    const world = setUp({ isolation: { driver: 'sandbox', network: 'nftables', limits: 'cgroup1' } });
    await world.client.create<Agent>(newAgent('one'));
    await world.setNetwork('False', 'RulesRejected', 'nft says no');
    await world.look();
    expect(world.driver.calls).toEqual([]);
    expect(conditionOf(world.agent(), 'Ready')).toBe('False NetworkNotReady: waiting for the network (RulesRejected: nft says no)');
    expect(world.agent()?.status?.phase).toBe('Starting');
    await world.setNetwork('True', 'Enforced');
    await world.look();
    expect(conditionOf(world.agent(), 'Ready')).toBe('True Running: ');
  });

  it('that fails later makes the agent unready and leaves the workspace alone', async () => {
    const { driver, agent, look, setNetwork } = await running();
    await setNetwork('False', 'RulesRejected', 'nft says no');
    await look();
    expect(conditionOf(agent(), 'Ready')).toBe('False RulesRejected: nft says no');
    expect(driver.calls).toHaveLength(1);
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
