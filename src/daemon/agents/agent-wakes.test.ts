import { expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import type { Agent, Team } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { bench, newAgent, newTeam } from '../../../test/support/controllers.ts';
import { agentWatches } from './agent-wakes.ts';

/** Teams `a` with sub-team `b`, whose sub-team is `c`, and `other`; two agents each. */
async function setUp(network: JsonObject = { allowInterAgent: true }) {
  const world = bench();
  for (const [name, parent] of [['a'], ['b', 'a'], ['c', 'b'], ['other']] as const) {
    await world.client.create<Team>(newTeam(name, { network, ...(parent && { parent }) }));
    for (const agent of ['one', 'two']) await world.client.create<Agent>(newAgent(`${name}-${agent}`, { team: name }));
  }
  const watches = agentWatches(world.store);
  const woken = (object: KindObject | undefined, type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'SYNC' = 'MODIFIED') =>
    watches.flatMap((watch) => (watch.kind === object?.kind ? watch.toKeys(object, type) : [])).map(({ name }) => name);
  const team = (name: string) => world.get<Team>('Team', name) as Team;
  const agent = (name: string) => world.get<Agent>('Agent', name) as Agent;
  for (const name of ['a', 'b', 'c', 'other']) woken(team(name), 'ADDED');
  for (const name of ['a', 'b']) for (const one of ['one', 'two']) woken(agent(`${name}-${one}`), 'ADDED');
  return { ...world, woken, team, agent };
}

it('what a Team does wakes nobody, what it allows wakes its agents and those of all teams below it', async () => {
  const { client, woken, team } = await setUp();
  await client.updateStatus<Team>({ ...team('a'), status: { phase: 'Working' } });
  expect(woken(team('a'))).toEqual([]);
  await client.update<Team>({ ...team('a'), spec: { ...team('a').spec, terminationGracePeriodSeconds: 7 } });
  expect(woken(team('a'))).toEqual([]);
  await client.update<Team>({ ...team('a'), spec: { ...team('a').spec, network: { allowInterAgent: false, allowInternet: false } } });
  expect(woken(team('a'))).toEqual(['a-one', 'a-two', 'b-one', 'b-two', 'c-one', 'c-two']);
  expect(woken(team('a'))).toEqual([]);
});

it('agents that the work of their team comes from a repository are told when that changes', async () => {
  const { client, woken, team } = await setUp();
  await client.update<Team>({
    ...team('other'),
    spec: { ...team('other').spec, repo: { url: 'https://example.com/r.git' } } as Team['spec'],
  });
  expect(woken(team('other'))).toEqual(['other-one', 'other-two']);
});

it('a Team that goes, comes again, or is to be looked at again wakes its agents, whatever was seen before', async () => {
  const { woken, team } = await setUp();
  expect(woken(team('other'), 'SYNC')).toEqual(['other-one', 'other-two']);
  expect(woken(team('other'), 'DELETED')).toEqual(['other-one', 'other-two']);
  expect(woken(team('other'), 'ADDED')).toEqual(['other-one', 'other-two']);
});

it('an agent wakes its team mates when it has another address, not with each word about itself', async () => {
  const { client, woken, agent } = await setUp();
  const set = (status: NonNullable<Agent['status']>) => client.updateStatus<Agent>({ ...agent('a-one'), status });
  await set({ phase: 'Working' });
  expect(woken(agent('a-one'))).toEqual([]);
  await set({ phase: 'Working', ip: '10.99.0.2' });
  expect(woken(agent('a-one'))).toEqual(['a-one', 'a-two']);
  await set({ phase: 'Ready', ip: '10.99.0.2' });
  expect(woken(agent('a-one'))).toEqual([]);
  expect(woken(agent('a-one'), 'DELETED')).toEqual(['a-one', 'a-two']);
});

it('agents that may not talk are not told of each other', async () => {
  const { woken, agent } = await setUp({ allowInterAgent: false });
  expect(woken(agent('a-one'), 'DELETED')).toEqual([]);
});
