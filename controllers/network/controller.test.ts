import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Agent, Team } from '#api/types.ts';
import { StalledError, UnavailableError } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import { Numbers } from '#lib/numbers.ts';
import type { Controller, Key } from '#runtime/controller.ts';
import { bench, conditionOf, newAgent, newTeam } from '../../test/support/controllers.ts';
import { type FakeNetworkOptions, fakeNetwork } from '../../test/support/network-fake.ts';
import { NETWORK_FINALIZER, type NetworkDeps, networkController } from './controller.ts';
import { WORKSPACE_FINALIZER } from './policy.ts';
import { networkSweep } from './sweep.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-network-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function setUp(options: FakeNetworkOptions & Partial<Pick<NetworkDeps, 'driverNameOf' | 'firstProcessOf'>> = {}) {
  const world = bench();
  const network = fakeNetwork(options);
  const numbers = new Numbers(join(folder, 'numbers.json'));
  const deps: NetworkDeps = { client: world.client, network, numbers, driverNameOf: () => 'sandbox', ...options };
  const controller = networkController(deps);
  const agent = (name = 'one') => world.get<Agent>('Agent', name);
  const look = (name = 'one') => world.reconcile(controller, 'Agent', name);
  const team = (name: string, network: JsonObject, spec: JsonObject = {}) => world.client.create<Team>(newTeam(name, { network, ...spec }));
  const setNetwork = async (name: string, change: Team['spec']['network']) => {
    const now = world.get<Team>('Team', name) as Team;
    return world.client.update<Team>({ ...now, spec: { ...now.spec, network: change } });
  };
  const remove = (kind: string, name: string) => world.client.delete({ kind, namespace: 'default', name });
  const ready = (name = 'one') => conditionOf(agent(name), 'NetworkReady');
  return { ...world, network, numbers, deps, controller, agent, look, team, setNetwork, remove, ready };
}

async function running(options: Parameters<typeof setUp>[0] = {}, network: JsonObject = { allowInterAgent: true, allowedPorts: [8080] }) {
  const world = setUp(options);
  await world.team('a', network);
  for (const name of ['one', 'two']) {
    await world.client.create<Agent>(newAgent(name));
    await world.look(name);
  }
  return world;
}

describe('the five standard cases', () => {
  it('converges from empty: the finalizer first, then a link, the rules, and the address', async () => {
    const { network, agent, ready } = await running();
    expect(agent()?.metadata.finalizers).toEqual([NETWORK_FINALIZER]);
    expect([agent()?.status?.ip, agent('two')?.status?.ip]).toEqual(['10.99.0.2', '10.99.0.3']);
    expect(ready()).toBe('True Enforced: ');
    expect(network.calls).toEqual(['ensureLink 2', 'apply', 'ensureLink 3', 'apply']);
    expect([network.lets(2, 3, 8080), network.lets(3, 2, 8080), network.lets(2, 3, 22)]).toEqual([true, true, false]);
  });

  it('makes the link of an agent around what waits for it, once', async () => {
    const waiting = new Map([['two', { pid: 17, startTime: 1, bootId: 'boot' }]]);
    const { network, look } = await running({ firstProcessOf: async ({ metadata }) => waiting.get(metadata.name) });
    await look('two');
    expect(network.calls).toEqual(['ensureLink 2', 'apply', 'ensureLink 3 around 17', 'apply', 'ensureLink 3']);
  });

  it('changes nothing on the second pass', async () => {
    const { network, agent, look, pass } = await running();
    const [before, policy] = [agent(), network.policy];
    pass(60_000);
    expect(await look()).toEqual({});
    expect(agent()).toBe(before);
    expect(network.policy).toEqual(policy);
  });

  it('has nothing to do for an agent of which only other things change, and everything for one of which it knows nothing', async () => {
    const driverNameOf = ({ spec }: Agent) => (spec.isolation?.driver === 'process' ? 'process' : 'sandbox');
    const { agent, client, look, controller } = await running({ driverNameOf });
    const before = agent() as Agent;
    const busy = await client.updateStatus<Agent>({ ...before, status: { ...before.status, phase: 'Working', messagesPending: 3 } });
    const other = await client.update<Agent>({ ...busy, spec: { ...busy.spec, maxConcurrentTasks: 2 } });
    expect([controller.isAtRest?.(busy, before), controller.isAtRest?.(other, busy)]).toEqual([true, true]);
    const moved = { ...other, spec: { ...other.spec, isolation: { driver: 'process' as const } } };
    const robbed = { ...other, status: { ...other.status, conditions: [] } };
    const loose = { ...other, metadata: { ...other.metadata, finalizers: [] } };
    for (const changed of [moved, robbed, loose]) expect(controller.isAtRest?.(changed as Agent, other)).toBe(false);
    expect(controller.isAtRest?.(other, undefined)).toBe(false);
    // Nothing of its condition speaks of the spec that changed: whoever waits for it asks what the object as a whole has seen.
    expect(await look()).toEqual({});
    expect(agent()).toBe(other);
  });

  it('follows a changed Team: what it no longer allows is gone at the next pass', async () => {
    const { network, look, setNetwork } = await running();
    await setNetwork('a', { allowInterAgent: true, allowInternet: false, allowedPorts: [9090] });
    await look();
    expect([network.lets(2, 3, 8080), network.lets(2, 3, 9090)]).toEqual([false, true]);
    await setNetwork('a', { allowInterAgent: false, allowInternet: false });
    await look();
    expect(network.lets(2, 3, 9090)).toBe(false);
  });

  it('makes no rules for an agent that is in them as it should be, and makes them again after a doubt', async () => {
    const { network, look, controller } = await running();
    const stop = controller.wakes?.[0]?.(() => {});
    const applies = () => network.calls.splice(0).filter((call) => call === 'apply').length;
    applies();
    for (const name of ['one', 'two', 'one']) await look(name);
    expect(applies()).toBe(0);
    network.drift('a rule is gone');
    for (const name of ['one', 'two']) await look(name);
    expect(applies()).toBe(1);
    stop?.();
  });

  it('makes the rules again after they could not be applied, also when the Team is as it was before', async () => {
    const { network, look, setNetwork } = await running();
    const allowed = { allowInterAgent: true, allowInternet: false, allowedPorts: [8080] };
    await setNetwork('a', { ...allowed, allowedPorts: [9090] });
    const { ensureLink } = network;
    // The link is there, the rules fail.
    network.ensureLink = async (agent, signal) => {
      const link = await ensureLink(agent, signal);
      network.failures.push(new UnavailableError('nft is gone'));
      return link;
    };
    await expect(look()).rejects.toThrow('nft is gone');
    network.ensureLink = ensureLink;
    await setNetwork('a', allowed);
    network.calls.length = 0;
    await look();
    expect(network.calls).toEqual(['ensureLink 2', 'apply']);
    expect([network.lets(2, 3, 8080), network.lets(2, 3, 9090)]).toEqual([true, false]);
  });

  it('says why it failed, and recovers', async () => {
    const { network, look, ready, ctx } = await running();
    network.failures.push(new UnavailableError('nft refused the rules: no space', { reason: 'RulesRejected' }));
    await expect(look()).rejects.toThrow('no space');
    expect(ready()).toBe('False RulesRejected: nft refused the rules: no space');
    expect(ctx.recorded).toEqual([{ type: 'Warning', object: 'one', reason: 'RulesRejected', message: 'nft refused the rules: no space' }]);
    await look();
    expect(ready()).toBe('True Enforced: ');
  });

  it('waits for the workspace, then leaves the rules, then the link, then the number, also when that fails', async () => {
    const { client, network, numbers, agent, look, remove } = await running();
    const now = agent() as Agent;
    await client.update<Agent>({ ...now, metadata: { ...now.metadata, finalizers: [NETWORK_FINALIZER, WORKSPACE_FINALIZER] } });
    await remove('Agent', 'one');
    expect(await look()).toEqual({ requeueAfterMs: 1_000 });
    expect([network.links.has(2), network.lets(2, 3, 8080)]).toEqual([true, true]);
    const leaving = agent() as Agent;
    await client.update<Agent>({ ...leaving, metadata: { ...leaving.metadata, finalizers: [NETWORK_FINALIZER] } });
    network.calls.length = 0;
    network.failures.push(new UnavailableError('nft is busy'));
    await expect(look()).rejects.toThrow('nft is busy');
    expect([network.links.has(2), numbers.find('agents', now.metadata.uid)]).toEqual([true, 2]);
    await look();
    expect(network.calls).toEqual(['apply', 'apply', 'removeLink 2']);
    expect(network.policy.members).toEqual([{ agent: 3, team: 1 }]);
    expect([agent(), numbers.find('agents', now.metadata.uid)]).toEqual([undefined, undefined]);
  });
});

describe('drivers and modes', () => {
  it('the process driver has no link and no address, and says so', async () => {
    const { network, agent, ready, remove, look } = await running({ driverNameOf: () => 'process' });
    expect(ready()).toBe('True NotEnforced: the process driver does not isolate the network');
    expect([network.calls, agent()?.status?.ip]).toEqual([[], undefined]);
    await remove('Agent', 'one');
    await look();
    expect([agent(), network.calls]).toEqual([undefined, []]);
  });

  it('an agent that nothing here isolates is not ready', async () => {
    const { ready } = await running({
      driverNameOf: () => {
        throw new StalledError('IsolationUnavailable', 'this machine offers process');
      },
    });
    expect(ready()).toBe('False IsolationUnavailable: this machine offers process');
  });

  it.each<[JsonObject, string]>([
    [{}, 'True ProxyOnly: no network but the proxy: not root'],
    [{ allowDomains: ['example.com'] }, 'True ProxyOnly: no network but the proxy: not root'],
    [
      { allowInterAgent: true },
      'False NetworkUnavailable: the team asks for network.allowInterAgent but agents have no network here except the proxy: not root',
    ],
    [
      { allowInternet: true, allowCidrs: ['10.0.0.0/8'] },
      'False NetworkUnavailable: the team asks for network.allowInternet, network.allowCidrs but agents have no network here except the proxy: not root',
    ],
  ])('without the right to make links a team with %j is: %s', async (network, want) => {
    const { ready, agent } = await running({ mode: 'proxy-only' }, network);
    expect(ready()).toBe(want);
    expect(agent()?.status?.ip).toBeUndefined();
  });

  it('without an uplink says on the agent that the way out leads nowhere, once', async () => {
    const { ready, look, ctx } = await running({}, { allowInternet: true });
    const message = 'network.allowInternet of the team open nothing: the network has no uplink';
    expect(ready()).toBe(`True Enforced: ${message}`);
    await look();
    expect(ctx.recorded.filter(({ object }) => object === 'one')).toEqual([
      { type: 'Warning', object: 'one', reason: 'NetworkLimited', message },
    ]);
    expect((await running({ hasUplink: true }, { allowInternet: true })).ready()).toBe('True Enforced: ');
  });

  it('an agent whose Team does not exist has a link and no rights', async () => {
    const { client, network, look, ready } = setUp();
    await client.create<Agent>(newAgent('one'));
    await look();
    expect(ready()).toBe('True Enforced: there is no Team a: nothing is allowed');
    expect([network.links.has(2), network.policy]).toEqual([true, { teams: [], members: [] }]);
  });
});

describe('teams within teams', () => {
  it('parent and child reach each other, siblings and grandparents do not, and a narrowed parent narrows them all', async () => {
    const { client, network, look, team, setNetwork } = setUp();
    const talk = { allowInterAgent: true };
    for (const [name, parent] of [['a'], ['b', 'a'], ['c', 'b'], ['d', 'a']])
      await team(name ?? '', talk, parent === undefined ? {} : { parent });
    for (const name of ['a', 'b', 'c', 'd']) {
      await client.create<Agent>(newAgent(`of-${name}`, { team: name }));
      await look(`of-${name}`);
    }
    const [a, b, c, d] = [2, 3, 4, 5] as const;
    const pairs = [[a, b], [b, c], [a, d], [a, c], [b, d], [c, d]] as const; // biome-ignore format: one line
    const seen = () => pairs.map(([from, to]) => network.lets(from, to, 80) && network.lets(to, from, 80));
    expect(seen()).toEqual([true, true, true, false, false, false]);
    await setNetwork('a', { allowInterAgent: false, allowInternet: false });
    await look('of-d');
    expect(seen()).toEqual([false, false, false, false, false, false]);
  });
});

describe('what wakes it', () => {
  const toKeys = (controller: Controller<Agent>, team: Team, type: 'MODIFIED' | 'DELETED' = 'MODIFIED') =>
    (controller.watches?.[0]?.toKeys(team, type) ?? []).map(({ name }) => name).sort();

  it('a Team whose network changed or which is gone wakes its agents and those of its relatives, a Team with other news nobody', async () => {
    const { client, controller, look, team, setNetwork, get } = setUp();
    const talk = { allowInterAgent: true };
    const teams = [
      await team('a', talk),
      await team('b', talk, { parent: 'a' }),
      await team('c', talk, { parent: 'b' }),
      await team('z', talk),
    ];
    for (const name of ['a', 'b', 'c', 'z']) {
      await client.create<Agent>(newAgent(`of-${name}`, { team: name }));
      await look(`of-${name}`);
    }
    for (const each of teams) toKeys(controller, each);
    expect(toKeys(controller, teams[1] as Team)).toEqual([]);
    const now = get<Team>('Team', 'b') as Team;
    expect(toKeys(controller, await client.updateStatus<Team>({ ...now, status: { phase: 'Ready' } }))).toEqual([]);
    expect(toKeys(controller, await setNetwork('b', { allowInterAgent: false, allowInternet: false }))).toEqual(['of-a', 'of-b', 'of-c']);
    expect(toKeys(controller, teams[0] as Team, 'DELETED')).toEqual(['of-a', 'of-b', 'of-c']);
    expect(toKeys(controller, teams[3] as Team, 'DELETED')).toEqual(['of-z']);
  });

  it('drift wakes every agent, and each Team gets one event', async () => {
    const { client, network, controller, look, team, ctx } = await running();
    await team('b', {});
    await client.create<Agent>(newAgent('three', { team: 'b' }));
    await look('three');
    const woken: Key[] = [];
    const stop = controller.wakes?.[0]?.((key) => woken.push(key));
    network.drift('table inet agentiso is missing');
    expect(woken.map(({ name }) => name).sort()).toEqual(['one', 'three', 'two']);
    for (const { name } of woken) await look(name);
    const message = 'somebody else changed the network rules: table inet agentiso is missing';
    expect(ctx.recorded).toEqual(['a', 'b'].map((object) => ({ type: 'Warning', object, reason: 'RulesDrifted', message })));
    stop?.();
    network.drift('again');
    expect(woken).toHaveLength(3);
  });
});

it('many agents at once share few transactions, and the rules that stay have all of them', async () => {
  const { client, network, look, team } = setUp();
  await team('a', { allowInterAgent: true }, { budget: { maxAgents: 30 } });
  const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
  for (const name of names) await client.create<Agent>(newAgent(name));
  await Promise.all(names.map((name) => look(name)));
  expect(network.policy.members).toHaveLength(20);
  expect(network.calls.filter((call) => call === 'apply').length).toBeLessThanOrEqual(20);
});

describe('the sweep', () => {
  it('removes links without an agent and releases numbers of what is gone, and nothing else', async () => {
    const { network, numbers, deps, ctx, agent } = await running();
    network.links.add(77);
    numbers.numberOf('agents', 'gone');
    numbers.numberOf('teams', 'gone');
    await networkSweep(deps).sweep(ctx);
    expect([...network.links].sort()).toEqual([2, 3]);
    expect([...numbers.entries('agents').keys()].sort()).toEqual([agent()?.metadata.uid, agent('two')?.metadata.uid].sort());
    expect([...numbers.entries('teams').values()]).toEqual([1]);
  });

  it('keeps the number of a Team that is gone while an agent it made is still there', async () => {
    const { client, numbers, deps, ctx, team } = setUp();
    const { metadata } = await team('a', {});
    const owner = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', name: 'a', uid: metadata.uid };
    const draft = newAgent('one');
    await client.create<Agent>({ ...draft, metadata: { ...draft.metadata, name: 'one', ownerReferences: [owner] } });
    numbers.numberOf('teams', metadata.uid);
    await client.delete({ kind: 'Team', namespace: 'default', name: 'a' });
    await networkSweep(deps).sweep(ctx);
    expect(numbers.find('teams', metadata.uid)).toBe(1);
    await client.delete({ kind: 'Agent', namespace: 'default', name: 'one' });
    await networkSweep(deps).sweep(ctx);
    expect(numbers.find('teams', metadata.uid)).toBeUndefined();
  });

  it('leaves a link alone whose number finds an owner while others are removed', async () => {
    const { network, numbers, deps, ctx } = setUp();
    network.links.add(77).add(2);
    const { removeLink } = network;
    network.removeLink = async (number, signal) => {
      await removeLink(number, signal);
      numbers.numberOf('agents', 'new');
    };
    await networkSweep(deps).sweep(ctx);
    expect([...network.links]).toEqual([2]);
  });
});
