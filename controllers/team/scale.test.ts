import { describe, expect, it } from 'vitest';
import { DRAINING_ANNOTATION, SUSPENDED_ANNOTATION } from '#api/team-rules.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import { bench, conditionOf, newAgent, newTask, newTeam, START } from '../../test/support/controllers.ts';
import { isReady } from '../task/roster.ts';
import { teamController } from './controller.ts';
import { leavesInMs, marksOf } from './scale.ts';

function setUp() {
  const world = bench();
  const controller = teamController({ client: world.client });
  const agents = () => world.store.list('Agent').items as Agent[];
  return {
    ...world,
    agents,
    names: () => agents().map(({ metadata }) => metadata.name),
    states: () => Object.fromEntries(agents().map(({ metadata, spec }) => [metadata.name, spec.desiredState])),
    draining: () =>
      agents()
        .filter(({ metadata }) => metadata.annotations?.[DRAINING_ANNOTATION])
        .map(({ metadata }) => metadata.name),
    team: () => world.get<Team>('Team', 'a') as Team,
    look: () => world.reconcile(controller, 'Team', 'a'),
    async change(spec: object) {
      const now = world.get<Team>('Team', 'a') as Team;
      await world.client.update<Team>({ ...now, spec: { ...now.spec, ...spec } });
    },
    async setAgent(name: string, spec: object) {
      const agent = world.get<Agent>('Agent', name) as Agent;
      await world.client.update<Agent>({ ...agent, spec: { ...agent.spec, ...spec } });
    },
    async setTask(name: string, status: object) {
      const task = world.get<Task>('Task', name) as Task;
      await world.client.updateStatus<Task>({ ...task, status });
    },
  };
}

const dev = (count: number) => ({ roles: [{ name: 'dev', count }] });

describe('lowering a count', () => {
  it('marks the highest numbers first, and removes them when nobody can give them work any more', async () => {
    const { client, look, change, names, draining, get } = setUp();
    await client.create<Team>(newTeam('a', dev(4)));
    await look();
    await change({ roles: get<Team>('Team', 'a')?.spec.roles.map((role) => ({ ...role, count: 2 })) });
    await look();
    expect([names(), draining()]).toEqual([
      ['a-dev-1', 'a-dev-2', 'a-dev-3', 'a-dev-4'],
      ['a-dev-3', 'a-dev-4'],
    ]);
    await look();
    expect(names()).toEqual(['a-dev-1', 'a-dev-2']);
  });

  it.each(['Claimed', 'Running'])('keeps one whose task is %s until it is done', async (phase) => {
    const { client, look, change, names, setTask, get, pass } = setUp();
    await client.create<Team>(newTeam('a', dev(3)));
    await client.create<Task>(newTask('job'));
    await look();
    await setTask('job', { phase, owner: 'a-dev-3' });
    await change({ roles: get<Team>('Team', 'a')?.spec.roles.map((role) => ({ ...role, count: 2 })) });
    await look();
    expect(await look()).toEqual({ requeueAfterMs: 30_000 });
    pass(29_000);
    expect([await look(), names()]).toEqual([{ requeueAfterMs: 1_000 }, ['a-dev-1', 'a-dev-2', 'a-dev-3']]);
    await setTask('job', { phase: 'Succeeded', owner: 'a-dev-3' });
    await look();
    expect(names()).toEqual(['a-dev-1', 'a-dev-2']);
  });

  it('waits no longer than the grace period, and says so', async () => {
    const { client, look, change, names, setTask, get, pass, ctx } = setUp();
    await client.create<Team>(newTeam('a', { ...dev(2), terminationGracePeriodSeconds: 5 }));
    await client.create<Task>(newTask('job'));
    await look();
    await setTask('job', { phase: 'Running', owner: 'a-dev-2' });
    await change({ roles: get<Team>('Team', 'a')?.spec.roles.map((role) => ({ ...role, name: 'ops', count: 1 })) });
    await look();
    await look();
    expect(names()).toEqual(['a-dev-2', 'a-ops']);
    pass(5_000);
    await look();
    expect(names()).toEqual(['a-ops']);
    expect(ctx.recorded.map(({ reason }) => reason)).toContain('GracePeriodOver');
  });

  it('is taken back when the count rises again', async () => {
    const { client, look, change, draining, names, setTask, get } = setUp();
    await client.create<Team>(newTeam('a', dev(3)));
    await client.create<Task>(newTask('job'));
    await look();
    const { roles } = get<Team>('Team', 'a')?.spec ?? { roles: [] };
    await setTask('job', { phase: 'Running', owner: 'a-dev-3' });
    await change({ roles: roles.map((role) => ({ ...role, count: 2 })) });
    await look();
    expect(draining()).toEqual(['a-dev-3']);
    await change({ roles });
    await look();
    expect([draining(), names()]).toEqual([[], ['a-dev-1', 'a-dev-2', 'a-dev-3']]);
  });

  it('makes room before others are made: never more agents than the budget', async () => {
    const { client, look, change, names, team } = setUp();
    await client.create<Team>(newTeam('a', { ...dev(1), budget: { maxAgents: 2 } }));
    await look();
    await change({ roles: team().spec.roles.map((role) => ({ ...role, count: 2 })) });
    await look();
    expect(names()).toEqual(['a-dev']);
    expect(conditionOf(team(), 'Ready')).toBe(
      'False QuotaExceeded: team a may have 2 agents: 1 agents exist; 2 more have to wait until others are gone',
    );
    await look();
    await look();
    expect(names()).toEqual(['a-dev-1', 'a-dev-2']);
  });
});

describe('suspend', () => {
  it('stops the agents, and wakes those that it has stopped', async () => {
    const { client, look, change, states, setAgent, team } = setUp();
    await client.create<Team>(newTeam('a', dev(2)));
    await client.create<Agent>(newAgent('helper'));
    await look();
    await setAgent('a-dev-2', { desiredState: 'Stopped' });
    await change({ suspend: true });
    await look();
    expect(states()).toEqual({ 'a-dev-1': 'Stopped', 'a-dev-2': 'Stopped', helper: 'Stopped' });
    expect(conditionOf(team(), 'Ready')).toBe('False Suspended: spec.suspend is true');
    await look();
    await change({ suspend: false });
    await look();
    expect(states()).toEqual({ 'a-dev-1': 'Running', 'a-dev-2': 'Stopped', helper: 'Running' });
  });

  it('changes nothing on the second pass', async () => {
    const { client, look, store } = setUp();
    await client.create<Team>(newTeam('a', { ...dev(2), suspend: true }));
    await look();
    await look();
    const { resourceVersion } = store;
    await look();
    expect(store.resourceVersion).toBe(resourceVersion);
  });

  it('holds agents that are made or woken meanwhile', async () => {
    const { client, look, change, states, setAgent } = setUp();
    await client.create<Team>(newTeam('a', { ...dev(2), suspend: true }));
    await look();
    expect(states()).toEqual({ 'a-dev-1': 'Stopped', 'a-dev-2': 'Stopped' });
    await setAgent('a-dev-1', { desiredState: 'Running' });
    await look();
    expect(states()).toEqual({ 'a-dev-1': 'Stopped', 'a-dev-2': 'Stopped' });
    await change({ suspend: false });
    await look();
    expect(states()).toEqual({ 'a-dev-1': 'Running', 'a-dev-2': 'Running' });
  });
});

describe('marksOf', () => {
  const agent = (desiredState: string, annotations: Record<string, string> = {}) =>
    ({ metadata: { annotations }, spec: { desiredState } }) as unknown as Agent;
  const since = START.toISOString();
  it.each([
    { name: 'nothing to say', agent: agent('Running', { own: 'x' }), to: {}, want: ['Running', { own: 'x' }] },
    { name: 'surplus', agent: agent('Running'), to: { isSurplus: true }, want: ['Running', { [DRAINING_ANNOTATION]: since }] },
    {
      name: 'surplus since earlier',
      agent: agent('Running', { [DRAINING_ANNOTATION]: 'earlier' }),
      to: { isSurplus: true },
      want: ['Running', { [DRAINING_ANNOTATION]: 'earlier' }],
    },
    { name: 'suspended', agent: agent('Running'), to: { suspend: true }, want: ['Stopped', { [SUSPENDED_ANNOTATION]: 'Running' }] },
    { name: 'stopped by a person', agent: agent('Stopped'), to: { suspend: true }, want: ['Stopped', {}] },
    { name: 'resumed', agent: agent('Stopped', { [SUSPENDED_ANNOTATION]: 'Running' }), to: {}, want: ['Running', {}] },
  ])('of one with $name', ({ agent: before, to, want }) => {
    const { desiredState, annotations } = marksOf(before, { isSurplus: false, suspend: false, now: START, ...to });
    expect([desiredState, annotations]).toEqual(want);
  });
});

it('gives an idle agent no time and a busy one what is left of the grace period', () => {
  const agent = newAgent('x') as Agent;
  const marked = { ...agent, metadata: { ...agent.metadata, annotations: { [DRAINING_ANNOTATION]: START.toISOString() } } } as Agent;
  const now = new Date(START.getTime() + 4_000);
  expect(leavesInMs(marked, { isBusy: false, graceMs: 10_000, now })).toBe(0);
  expect(leavesInMs(marked, { isBusy: true, graceMs: 10_000, now })).toBe(6_000);
  expect(leavesInMs(marked, { isBusy: true, graceMs: 1_000, now })).toBe(0);
  // A mark that nobody can read is not a reason to end work at once.
  expect(leavesInMs(agent, { isBusy: true, graceMs: 1_000, now })).toBe(1_000);
});

it('is honoured by whoever hands out tasks', () => {
  const ready = (annotations: object, desiredState: string) =>
    ({
      metadata: { annotations },
      spec: { desiredState },
      status: { phase: 'Ready', conditions: [{ type: 'Ready', status: 'True' }] },
    }) as unknown as Agent;
  expect(isReady(ready({}, 'Running'))).toBe(true);
  expect(isReady(ready({ [DRAINING_ANNOTATION]: 'x' }, 'Running'))).toBe(false);
  expect(isReady(ready({}, 'Stopped'))).toBe(false);
});
