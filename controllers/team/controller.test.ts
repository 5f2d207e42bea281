import { describe, expect, it } from 'vitest';
import { admission } from '#api/kinds.ts';
import type { KindObject } from '#api/meta.ts';
import type { Agent, Task, Team } from '#api/types.ts';
import { UnavailableError } from '#lib/errors.ts';
import { interceptClient } from '#runtime/testing.ts';
import { bench, conditionOf, newAgent, newTask, newTeam } from '../../test/support/controllers.ts';
import { teamController } from './controller.ts';

const KEY = { kind: 'Team', namespace: 'default', name: 'a' };

function setUp() {
  const world = bench();
  const controller = teamController({ client: world.client });
  const team = () => world.get<Team>('Team', 'a');
  const names = (kind: string) => world.store.list(kind).items.map(({ metadata }) => metadata.name);
  const edit = async (change: Partial<Team['spec']>) => {
    const now = team() as Team;
    await world.client.update<Team>({ ...now, spec: { ...now.spec, ...change } });
  };
  /** What the agent controller would say. */
  const setReady = async (name: string, status: 'True' | 'False' = 'True', reason = 'Running', message = '') => {
    const agent = world.get<Agent>('Agent', name) as Agent;
    const condition = { type: 'Ready', status, reason, message, lastTransitionTime: '2026-01-02T03:04:05Z' };
    await world.client.updateStatus<Agent>({ ...agent, status: { ...agent.status, phase: 'Ready', conditions: [condition] } });
  };
  return {
    ...world,
    controller,
    team,
    names,
    edit,
    setReady,
    look: (client = world.client) => world.reconcile(teamController({ client }), 'Team', 'a'),
  };
}

const ROLES = [{ name: 'lead' }, { name: 'dev', count: 2, image: 'rust' }];
const TASKS = [
  { name: 'plan', assignTo: 'dev', command: 'make plan' },
  { name: 'build', assignTo: 'dev', command: 'make', dependsOn: ['plan'] },
];

describe('the five standard cases', () => {
  it('converges from empty: agents by role, tasks by list, all of them its own', async () => {
    const { client, look, names, get, team, setReady } = setUp();
    const { metadata } = await client.create<Team>(newTeam('a', { roles: ROLES, tasks: TASKS, isolation: { driver: 'process' } }));
    await look();
    expect([names('Agent'), names('Task')]).toEqual([
      ['a-dev-1', 'a-dev-2', 'a-lead'],
      ['a-build', 'a-plan'],
    ]);
    const owner = { apiVersion: metadata.uid && 'agentiso.dev/v1alpha1', kind: 'Team', name: 'a', uid: metadata.uid };
    expect(get<Agent>('Agent', 'a-dev-2')).toMatchObject({
      metadata: { ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }] },
      spec: { team: 'a', roleName: 'dev', image: 'rust', desiredState: 'Running', isolation: { driver: 'process', minimum: 'process' } },
    });
    expect(get<Task>('Task', 'a-build')?.spec).toMatchObject({ team: 'a', command: 'make', dependsOn: ['plan'], priority: 3 });
    expect(team()?.status).toMatchObject({ phase: 'Creating', budget: { used: 3, reserved: 0, remaining: 7 }, observedGeneration: 1 });
    expect(conditionOf(team(), 'Ready')).toBe('False Starting: agent a-dev-1: has not reported yet');
    for (const name of names('Agent')) await setReady(name);
    await look();
    expect(conditionOf(team(), 'Ready')).toBe('True AgentsReady: 3 of 3 agents are ready');
    expect(team()?.status).toMatchObject({
      phase: 'Ready',
      members: [{ name: 'dev-1', role: 'dev', phase: 'Ready' }, { name: 'dev-2' }, { name: 'lead', role: 'lead' }],
      taskSummary: { total: 2, pending: 2, succeeded: 0 },
    });
  });

  it('changes nothing on the second pass', async () => {
    const { client, look, store, pass } = setUp();
    await client.create<Team>(newTeam('a', { roles: ROLES, tasks: TASKS }));
    await look();
    const version = store.resourceVersion;
    pass(60_000);
    expect(await look()).toEqual({});
    expect(store.resourceVersion).toBe(version);
  });

  it('follows a changed spec: more, fewer and different agents, changed tasks', async () => {
    const { client, look, names, edit, get, team } = setUp();
    const { spec } = await client.create<Team>(newTeam('a', { roles: ROLES, tasks: TASKS }));
    await look();
    const [lead, dev] = spec.roles;
    if (!lead || !dev) throw new Error('two roles');
    await edit({ roles: [lead, { ...dev, count: 3, image: 'python' }] });
    await look();
    expect(names('Agent')).toEqual(['a-dev-1', 'a-dev-2', 'a-dev-3', 'a-lead']);
    expect(get<Agent>('Agent', 'a-dev-1')?.spec.image).toBe('python');
    await edit({ roles: [{ ...dev, count: 1 }], tasks: (spec.tasks ?? []).map((task) => ({ ...task, command: 'make all' })) });
    await look();
    expect(get<Agent>('Agent', 'a-dev-3')?.metadata.annotations).toHaveProperty(['agentiso.dev/draining']);
    await look();
    expect(names('Agent')).toEqual(['a-dev']);
    expect(get<Task>('Task', 'a-build')?.spec.command).toBe('make all');
    expect(team()?.status?.budget?.used).toBe(1);
  });

  it('takes back what it has stopped to say, and leaves what others say', async () => {
    const { client, look, edit, get } = setUp();
    const role = { name: 'dev', skills: ['rust'], envFrom: [{ hostEnv: 'TOKEN' }], maxConcurrentTasks: 1 };
    const task = { name: 'build', command: 'make', dependsOn: ['first'], env: { A: '1' } };
    await client.create<Team>(newTeam('a', { roles: [role], tasks: [{ name: 'first', command: 'true' }, task] }));
    await look();
    const made = get<Agent>('Agent', 'a-dev');
    expect(made?.spec).toMatchObject({ skills: ['rust'], envFrom: [{ hostEnv: 'TOKEN' }], maxConcurrentTasks: 1 });
    const listed = get<Task>('Task', 'a-build');
    if (!made || !listed) throw new Error('no agent, no task');
    await client.update<Agent>({ ...made, spec: { ...made.spec, source: { agent: 'a-old', snapshot: 'before' } } });
    await client.update<Task>({ ...listed, spec: { ...listed.spec, assignTo: 'dev' } });
    await edit({
      roles: [{ name: 'dev' }] as never,
      tasks: [
        { name: 'first', command: 'true' },
        { name: 'build', prompt: 'build it' },
      ] as never,
    });
    await look();
    const agent = get<Agent>('Agent', 'a-dev')?.spec;
    expect(agent).not.toHaveProperty('skills');
    expect(agent).not.toHaveProperty('envFrom');
    expect(agent).toMatchObject({ source: { agent: 'a-old', snapshot: 'before' }, desiredState: 'Running' });
    const after = get<Task>('Task', 'a-build')?.spec;
    expect(after).toMatchObject({ prompt: 'build it', assignTo: 'dev' });
    for (const field of ['command', 'dependsOn', 'env']) expect(after).not.toHaveProperty(field);
  });

  it('says why it failed, and recovers', async () => {
    const { client, look, names, team } = setUp();
    await client.create<Team>(newTeam('a', { roles: ROLES }));
    let isFull = true;
    const failing = interceptClient(client, (verb) => {
      if (isFull && verb === 'create') throw new UnavailableError('no space left', { reason: 'DiskFull' });
    });
    await expect(look(failing)).rejects.toThrow('no space left');
    expect(conditionOf(team(), 'Ready')).toBe('False DiskFull: no space left');
    isFull = false;
    await look(failing);
    expect(names('Agent')).toHaveLength(3);
  });

  it('goes after everything it made, and says what it waits for', async () => {
    const { client, look, names, team, get } = setUp();
    await client.create<Team>(newTeam('a', { roles: [{ name: 'dev' }], tasks: TASKS }));
    await client.create<Agent>(newAgent('helper'));
    await look();
    const agent = get<Agent>('Agent', 'a-dev') as Agent;
    await client.update<Agent>({ ...agent, metadata: { ...agent.metadata, finalizers: ['x/held'] } });
    await client.delete(KEY);
    await look();
    expect([names('Agent'), team()?.status?.phase]).toEqual([['a-dev', 'helper'], 'Terminating']);
    expect(conditionOf(team(), 'Ready')).toBe('False Terminating: waits for agents and tasks: a-dev, a-build, a-plan');
    await look();
    expect(conditionOf(team(), 'Ready')).toBe('False Terminating: waits for agents and tasks: a-dev');
    const held = get<Agent>('Agent', 'a-dev') as Agent;
    await client.update<Agent>({ ...held, metadata: { ...held.metadata, finalizers: [] } });
    await look();
    expect([team(), names('Agent'), names('Task')]).toEqual([undefined, ['helper'], []]);
  });

  it('lets its parts live on when they are released first', async () => {
    const { client, look, names, team, get } = setUp();
    await client.create<Team>(newTeam('a', { roles: [{ name: 'dev' }] }));
    await look();
    await client.delete(KEY, { propagationPolicy: 'Orphan' });
    await look();
    expect(conditionOf(team(), 'Ready')).toBe('False Terminating: waits for its parts to be released');
    const { ownerReferences: _gone, ...metadata } = (get<Agent>('Agent', 'a-dev') as Agent).metadata;
    await client.update<Agent>({ ...(get<Agent>('Agent', 'a-dev') as Agent), metadata });
    const now = team() as Team;
    await client.update<Team>({ ...now, metadata: { ...now.metadata, finalizers: ['agentiso.dev/team'] } });
    await look();
    expect([team(), names('Agent')]).toEqual([undefined, ['a-dev']]);
  });
});

describe('agents of the team', () => {
  it('come back when somebody deletes them, and go back to what the role says', async () => {
    const { client, look, names, get } = setUp();
    await client.create<Team>(newTeam('a', { roles: [{ name: 'dev', image: 'rust' }] }));
    await look();
    const agent = get<Agent>('Agent', 'a-dev') as Agent;
    await client.update<Agent>({ ...agent, spec: { ...agent.spec, image: 'python' } });
    await look();
    expect(get<Agent>('Agent', 'a-dev')?.spec.image).toBe('rust');
    await client.delete({ kind: 'Agent', namespace: 'default', name: 'a-dev' });
    await look();
    expect(names('Agent')).toEqual(['a-dev']);
  });

  it('keep what no role says: a person may stop one, or give it more work at once', async () => {
    const { client, look, get } = setUp();
    await client.create<Team>(newTeam('a', { roles: [{ name: 'dev' }] }));
    await look();
    const agent = get<Agent>('Agent', 'a-dev') as Agent;
    await client.update<Agent>({ ...agent, spec: { ...agent.spec, desiredState: 'Stopped', maxConcurrentTasks: 9 } });
    await look();
    expect(get<Agent>('Agent', 'a-dev')?.spec).toMatchObject({ desiredState: 'Stopped', maxConcurrentTasks: 9 });
  });

  it('are not waited for, nor made again, while they are being deleted', async () => {
    const { client, look, get, names } = setUp();
    await client.create<Team>(newTeam('a', { roles: [{ name: 'dev' }] }));
    await look();
    const agent = get<Agent>('Agent', 'a-dev') as Agent;
    await client.update<Agent>({ ...agent, metadata: { ...agent.metadata, finalizers: ['x/held'] } });
    await client.delete({ kind: 'Agent', namespace: 'default', name: 'a-dev' });
    await look();
    expect([names('Agent'), get<Agent>('Agent', 'a-dev')?.metadata.deletionTimestamp]).toEqual([['a-dev'], '2026-01-02T03:04:05Z']);
  });

  it('made by hand are counted and left alone', async () => {
    const { client, look, names, team } = setUp();
    await client.create<Team>(newTeam('a', { roles: [{ name: 'dev' }] }));
    await client.create<Agent>(newAgent('helper'));
    await look();
    await look();
    expect(names('Agent')).toEqual(['a-dev', 'helper']);
    expect(team()?.status?.budget).toEqual({ used: 2, reserved: 0, remaining: 8 });
  });
});

describe('a name that is taken', () => {
  it('is reported and never adopted', async () => {
    const { client, look, get, team } = setUp();
    await client.create<Agent>(newAgent('a-dev', { team: 'b', image: 'python' }));
    await client.create<Team>(newTeam('a', { roles: [{ name: 'dev' }] }));
    expect(await look()).toEqual({});
    expect(conditionOf(team(), 'Ready')).toBe('False NameTaken: Agent a-dev exists and does not belong to this team; delete or rename it');
    expect(get<Agent>('Agent', 'a-dev')).toMatchObject({ metadata: { generation: 1 }, spec: { team: 'b' } });
  });

  it('belongs to a namesake of the team that was deleted', async () => {
    const { client, look, team } = setUp();
    await client.create<Team>(newTeam('a', { roles: [{ name: 'dev' }] }));
    await look();
    await client.update<Team>({ ...(team() as Team), metadata: { ...(team() as Team).metadata, finalizers: [] } });
    await client.delete(KEY);
    await client.create<Team>(newTeam('a', { roles: [{ name: 'dev' }] }));
    await look();
    expect(conditionOf(team(), 'Ready')).toMatch(/^False NameTaken: /);
  });

  it('is taken also by whoever has only the short name', async () => {
    const { client, look, names, team, edit } = setUp();
    const admitted = admission.admit(newTeam('a', { tasks: [{ name: 'build', command: 'make' }] }) as KindObject, undefined) as Team;
    await client.create<Agent>(newAgent('dev'));
    await client.create<Team>(newTeam('a', { roles: [{ name: 'dev' }] }));
    await look();
    expect(conditionOf(team(), 'Ready')).toBe('False NameTaken: Agent dev exists and does not belong to this team; delete or rename it');
    expect(names('Agent')).toEqual(['dev']);
    await client.delete({ kind: 'Agent', namespace: 'default', name: 'dev' });
    await client.create<Task>(newTask('build'));
    const tasks = admitted.spec.tasks ?? [];
    await edit({ tasks });
    await look();
    expect(conditionOf(team(), 'Ready')).toBe('False NameTaken: Task build exists and does not belong to this team; delete or rename it');
    expect(names('Task')).toEqual(['build']);
  });
});

it('looks again by itself when somebody else wrote to one of its own first, whatever that was', async () => {
  const { client, look, edit, get } = setUp();
  await client.create<Team>(newTeam('a', { roles: ROLES, tasks: TASKS }));
  await look();
  await edit({ roles: [{ name: 'lead' }, { name: 'dev', count: 2, image: 'go' }] as Team['spec']['roles'] });
  const beat = interceptClient(client, async (verb, argument) => {
    const { kind, metadata } = argument as KindObject;
    if (verb !== 'update' || kind !== 'Agent' || metadata.name !== 'a-dev-1') return;
    const agent = get<Agent>('Agent', 'a-dev-1') as Agent;
    await client.updateStatus<Agent>({ ...agent, status: { ...agent.status, lastHeartbeat: '2026-01-02T03:04:05Z' } });
  });
  expect(await look(beat)).toMatchObject({ requeueAfterMs: 20 });
  expect([get<Agent>('Agent', 'a-dev-1')?.spec.image, get<Agent>('Agent', 'a-dev-2')?.spec.image]).toEqual(['rust', 'go']);
  expect(await look()).toEqual({});
  expect(get<Agent>('Agent', 'a-dev-1')?.spec.image).toBe('go');
});

it('is told of changes of its agents and tasks', () => {
  const { controller } = setUp();
  const member = { apiVersion: '', kind: 'Agent', metadata: { namespace: 'n', name: 'x' }, spec: { team: 't' } } as unknown as Agent;
  expect(controller.watches?.map(({ kind, toKeys }) => [kind, toKeys(member, 'MODIFIED')])).toEqual([
    ['Agent', [{ kind: 'Team', namespace: 'n', name: 't' }]],
    ['Agent', []],
    ['Task', [{ kind: 'Team', namespace: 'n', name: 't' }]],
    ['Merge', [{ kind: 'Team', namespace: 'n', name: 't' }]],
    ['Snapshot', []],
    ['Team', []],
  ]);
});
