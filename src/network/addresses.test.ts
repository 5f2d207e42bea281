import { expect, it } from 'vitest';
import {
  addressOf,
  agentNamespace,
  agentOfLink,
  agentOfNamespace,
  homeHash,
  LAST_AGENT,
  linkOf,
  loopbackOf,
  macOf,
  uplinkOf,
} from './addresses.ts';

it.each([
  [2, '10.99.0.2', '52:54:00:00:00:02', 'ag2'],
  [255, '10.99.0.255', '52:54:00:00:00:ff', 'ag255'],
  [256, '10.99.1.0', '52:54:00:00:01:00', 'ag256'],
  [LAST_AGENT, '10.99.255.254', '52:54:00:00:ff:fe', 'ag65534'],
])('agent %i has the address %s, the hardware address %s and the link %s', (agent, address, mac, link) => {
  expect([addressOf(agent), macOf(agent), linkOf(agent)]).toEqual([address, mac, link]);
});

it.each([-1, 0, 1, 65_535, 65_536, 2.5, Number.NaN])('%d is no number of an agent', (agent) => {
  expect(() => addressOf(agent)).toThrow('is no agent');
  expect(() => linkOf(agent)).toThrow('those are 2 to 65534');
});

it('finds the agent in the name of a namespace of this home, and in no other name', () => {
  const home = homeHash('/home/a');
  expect(home).toMatch(/^[0-9a-f]{8}$/);
  expect(agentOfNamespace(home, agentNamespace(home, 17))).toBe(17);
  const others = [`agentiso-${home}`, `agentiso-${home}-`, `agentiso-${home}-02`, `agentiso-${home}-1`, `agentiso-${home}-2-3`];
  for (const name of [...others, `agentiso-${home}0-3`, `x-agentiso-${home}-3`, agentNamespace(homeHash('/home/a-b'), 17)]) {
    expect([name, agentOfNamespace(home, name)]).toEqual([name, undefined]);
  }
});

it.each([
  ['ag2', 2],
  ['ag65535', undefined],
  ['ag', undefined],
  ['ag2x', undefined],
  ['up0', undefined],
])('the link %s belongs to agent %s', (name, agent) => {
  expect(agentOfLink(name)).toBe(agent);
});

it('an uplink has a name that fits an interface, and two addresses of one /30', () => {
  expect(uplinkOf('ffffffff')).toEqual({ link: 'agiso-ffffffff', host: '10.98.255.253', router: '10.98.255.254' });
  expect(uplinkOf('00400000')).toEqual({ link: 'agiso-00400000', host: '10.98.1.1', router: '10.98.1.2' });
});

it('plain processes of two homes do not meet on loopback, and all agents of one have addresses of their own', () => {
  expect([loopbackOf('00000000', 2), loopbackOf('00000000', 3), loopbackOf('00010000', 2)]).toEqual([
    '127.99.0.2',
    '127.99.0.3',
    '127.99.0.3',
  ]);
  expect([loopbackOf('00000000', LAST_AGENT), loopbackOf('fffe0000', 2)]).toEqual(['127.99.255.254', '127.99.0.3']);
  const all = new Set(Array.from({ length: LAST_AGENT - 1 }, (_, at) => loopbackOf('abcd1234', at + 2)));
  expect([all.size, all.has('127.99.0.0'), all.has('127.99.0.1'), all.has('127.99.255.255')]).toEqual([
    LAST_AGENT - 1,
    false,
    false,
    false,
  ]);
});
