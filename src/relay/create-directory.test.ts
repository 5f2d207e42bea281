/** Who is around an agent, what its team may still have, and sub-teams of its own making. */
import { expect, it } from 'vitest';
import type { Agent, Task, Team } from '#api/types.ts';
import { newTask, START } from '../../test/support/controllers.ts';
import { OPERATOR_OF, type RelayWorld, relayWorld } from './relay.fixture.ts';

const roles = [{ name: 'helper', count: 2 }, { name: 'reviewer' }];
const setTeam = ({ client, team }: RelayWorld, name: string, spec: object) =>
  client.update<Team>({ ...team(name), spec: { ...team(name).spec, ...spec } });

it('lists those that live of the own team, its parent and its sub-teams, and nobody further', async () => {
  const { relay, as, agent, setStatus } = await relayWorld();
  const names = async (who: string) => (await relay.directory.listAgents(as(who))).map(({ team, name }) => `${team}/${name}`);
  await setStatus(agent('a/tester'), { phase: 'Stopped' });
  await setStatus(agent('child/tester'), { phase: 'Failed' });
  expect(await names('a/coder')).toEqual(['a/coder', 'a/lead', 'child/coder', 'twin/coder']);
  expect(await names('child/coder')).toEqual(['a/coder', 'a/lead', 'child/coder']);
  expect(await names('a-b/coder')).toEqual(['a-b/coder', 'a-b/lead']);
});

it('says what each one does', async () => {
  const { relay, as, agent, setStatus, client } = await relayWorld();
  const coder = agent('a/coder');
  await client.update<Agent>({ ...coder, spec: { ...coder.spec, skills: ['sql'], model: 'm', role: 'developer' } });
  await setStatus(agent('a/coder'), { phase: 'Working', startedAt: new Date(START.getTime() - 90_500).toISOString() });
  const held = async (name: string, spec: object, owner: string, status: Task['status']) => {
    const task = await client.create<Task>(newTask(name, spec as never));
    await client.updateStatus<Task>({ ...task, status: { owner, ...status } });
  };
  await held('a-build', {}, 'a-coder', { phase: 'Running' });
  await held('a-plan', { planRequired: true }, 'a-tester', { phase: 'Claimed' });
  await held('a-old', {}, 'a-lead', { phase: 'Succeeded' });
  const [first, lead, tester] = await relay.directory.listAgents(as('a/coder'));
  expect(first).toEqual({
    name: 'coder',
    team: 'a',
    role: 'developer',
    skills: ['sql'],
    status: 'running',
    model: 'm',
    current_task: 'build',
    uptime_seconds: 90,
  });
  expect(lead).toMatchObject({ name: 'lead', status: 'idle', role: 'lead', skills: [] });
  expect(lead).not.toHaveProperty('current_task');
  expect(tester).toMatchObject({ name: 'tester', status: 'waiting', current_task: 'plan' });
});

it('makes a sub-team below the own one, as isolated as that', async () => {
  const world = await relayWorld();
  const { relay, as, team } = world;
  await setTeam(world, 'a', { isolation: { ...team('a').spec.isolation, driver: 'process', minimum: 'process' }, subTeams: 'Lead' });
  await expect(relay.directory.createSubTeam(as('a/coder'), { name: 'docs', roles })).rejects.toMatchObject({ code: 'Forbidden' });
  expect(await relay.directory.createSubTeam(as('a/lead'), { name: 'docs', roles })).toEqual({
    success: true,
    team_name: 'docs',
    member_count: 3,
    message: 'team docs with 3 agents is being made below team a',
  });
  expect(team('docs').spec).toMatchObject({
    parent: 'a',
    budget: { maxAgents: 3 },
    subTeams: 'Lead',
    isolation: { driver: 'process', minimum: 'process' },
    roles: [
      { name: 'helper', count: 2 },
      { name: 'reviewer', count: 1 },
    ],
  });
  await expect(relay.directory.createSubTeam(as('a/lead'), { name: 'docs', roles })).rejects.toMatchObject({ code: 'AlreadyExists' });
});

it('passes on what budget, depth, policy and the kind itself refuse', async () => {
  const world = await relayWorld();
  const { relay, as } = world;
  const ask = (who: string, more: object = {}) => relay.directory.createSubTeam(as(who), { name: 'new', roles, ...more });
  await expect(ask('a/lead', { max_agents: 18 })).rejects.toMatchObject({
    code: 'QuotaExceeded',
    message: expect.stringContaining('17 remain'),
  });
  await expect(ask('a/lead', { roles: [{ name: 'NOT VALID' }] })).rejects.toMatchObject({ code: 'Invalid' });
  await expect(ask('child/coder')).rejects.toMatchObject({ code: 'QuotaExceeded' });
  await setTeam(world, 'a', { subTeams: 'None' });
  await expect(ask('a/lead')).rejects.toMatchObject({ code: 'Forbidden', message: expect.stringContaining('None') });
  await setTeam(world, 'a', { subTeams: 'Any', budget: { maxAgents: 20, maxDepth: 1 } });
  await expect(ask('child/coder')).rejects.toMatchObject({ code: 'DepthExceeded' });
  await expect(relay.directory.createSubTeam(OPERATOR_OF, { name: 'x', roles })).rejects.toMatchObject({ code: 'Forbidden' });
});

it('gives a sub-team no variable of the host and no provider that the own team has not', async () => {
  const world = await relayWorld();
  const { relay, as, team } = world;
  const [first, ...rest] = team('a').spec.roles;
  await setTeam(world, 'a', { roles: [{ ...first, backend: 'claude-code', envFrom: [{ hostEnv: 'NPM_TOKEN' }] }, ...rest] });
  const ask = (name: string, role: object) => relay.directory.createSubTeam(as('a/lead'), { name, roles: [{ name: 'dev', ...role }] });
  for (const role of [
    { envFrom: [{ hostEnv: 'ANTHROPIC_API_KEY' }] },
    { envFrom: [{ hostEnv: 'NPM_TOKEN' }, { hostEnv: 'HOME' }] },
    { backend: 'codex' },
    { fallback: 'gemini' },
    { provider: 'mine' },
    { backend: 'claude-code', provider: 'openai' },
  ]) {
    await expect(ask('new', role)).rejects.toMatchObject({ code: 'Forbidden', message: expect.stringContaining('no role of team a') });
  }
  await expect(ask('new', { backend: 'constructor' })).rejects.toMatchObject({ code: 'Invalid' });
  const same = { backend: 'claude-code', envFrom: [{ hostEnv: 'NPM_TOKEN' }], provider: 'anthropic' };
  expect(await ask('new', same)).toMatchObject({ success: true });
});

it('tells the budget of the own team', async () => {
  const world = await relayWorld();
  const { relay, as, client, team } = world;
  const { uid } = team('child').metadata;
  await client.updateStatus<Team>({
    ...team('a'),
    status: { budget: { reservations: [{ uid, name: 'child', maxAgents: 5 }] } },
  });
  expect(await relay.directory.budget(as('a/coder'))).toEqual({
    max_agents: 20,
    used: 3,
    reserved: 5,
    remaining: 12,
    depth: 0,
    max_depth: 3,
  });
  expect(await relay.directory.budget(as('child/coder'))).toMatchObject({ max_agents: 20, used: 2, reserved: 0, remaining: 3, depth: 1 });
});
