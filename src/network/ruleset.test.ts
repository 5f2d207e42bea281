import { describe, expect, it } from 'vitest';
import type { Policy, TeamPolicy } from './network.ts';
import { elementsOf, NO_ELEMENTS, renderRuleset } from './ruleset.ts';

function team(number: number, rest: Partial<TeamPolicy> = {}): TeamPolicy {
  return { team: number, allowInterAgent: false, allowedPorts: [], allowInternet: false, allowCidrs: [], ...rest };
}

const relation = (number: number) => 0x100_0000 + number;

describe('elements', () => {
  it.each<{ name: string; policy: Policy; want: Partial<ReturnType<typeof elementsOf>> }>([
    {
      name: 'of a team that allows nothing are its members',
      policy: { teams: [team(1)], members: [{ agent: 2, team: 1 }] },
      want: { team_of: ['10.99.0.2 : 1'] },
    },
    {
      name: 'of an agent whose team is not there are none',
      policy: { teams: [team(1)], members: [{ agent: 2, team: 9 }] },
      want: {},
    },
    {
      name: 'of a team without listed ports say that everything is open',
      policy: { teams: [team(1, { allowInterAgent: true })], members: [{ agent: 2, team: 1 }] },
      want: { team_of: ['10.99.0.2 : 1'], pair_of: [`1 . 10.99.0.2 : ${relation(1)}`], open: [`${relation(1)}`] },
    },
    {
      name: 'of listed ports say which',
      policy: { teams: [team(1, { allowInterAgent: true, allowedPorts: [80, 8080, 80] })], members: [] },
      want: { ports: [`${relation(1)} . 80`, `${relation(1)} . 8080`] },
    },
    {
      name: 'of listed ports open nothing when agents may not talk',
      policy: { teams: [team(1, { allowedPorts: [80] })], members: [] },
      want: {},
    },
    {
      name: 'of parent and child go both ways, with the relation of the child',
      policy: {
        teams: [team(1), team(2, { parent: 1, allowInterAgent: true })],
        members: [
          { agent: 2, team: 1 },
          { agent: 3, team: 2 },
        ],
      },
      want: {
        team_of: ['10.99.0.2 : 1', '10.99.0.3 : 2'],
        pair_of: [`1 . 10.99.0.3 : ${relation(2)}`, `2 . 10.99.0.2 : ${relation(2)}`, `2 . 10.99.0.3 : ${relation(2)}`],
        open: [`${relation(2)}`],
      },
    },
    {
      name: 'of a way out are teams and ranges',
      policy: { teams: [team(1, { allowInternet: true }), team(2, { allowCidrs: ['10.1.0.0/16', '10.0.0.0/8'] })], members: [] },
      want: { egress: ['1'], egress_to: ['2 . 10.0.0.0/8'] },
    },
  ])('$name', ({ policy, want }) => {
    expect(elementsOf(policy, [])).toEqual({ ...NO_ELEMENTS, ...want });
  });

  it('hold the addresses of the host', () => {
    expect(elementsOf({ teams: [], members: [] }, ['192.168.1.5', '10.0.0.1', '10.0.0.1']).host).toEqual(['10.0.0.1', '192.168.1.5']);
  });

  it('grow with agents and not with pairs of them', () => {
    const members = (count: number) => Array.from({ length: count }, (_, index) => ({ agent: index + 2, team: 1 }));
    const sizeFor = (count: number) => {
      const elements = elementsOf({ teams: [team(1, { allowInterAgent: true, allowedPorts: [80] })], members: members(count) }, []);
      return Object.values(elements).flat().length;
    };
    expect([sizeFor(10), sizeFor(1_000)]).toEqual([2 * 10 + 1, 2 * 1_000 + 1]);
  });

  it.each([
    ['a number that is no team', { teams: [team(0)], members: [] }],
    ['a parent that is no team', { teams: [team(1, { parent: 1.5, allowInterAgent: true })], members: [] }],
    ['a number that is no agent', { teams: [team(1)], members: [{ agent: 1, team: 1 }] }],
    ['a port that is none', { teams: [team(1, { allowInterAgent: true, allowedPorts: [0] })], members: [] }],
    [
      'a text in place of a port',
      { teams: [team(1, { allowInterAgent: true, allowedPorts: ['80 }' as unknown as number] })], members: [] },
    ],
    ['a range that is none', { teams: [team(1, { allowCidrs: ['10.0.0.0/8, 0.0.0.0/0'] })], members: [] }],
  ])('are refused for %s', (_what, policy) => {
    expect(() => elementsOf(policy, [])).toThrow(/is no/);
  });
});

it('the whole table is one transaction that also works when it is there already', async () => {
  const policy: Policy = {
    teams: [team(1, { allowInterAgent: true, allowedPorts: [8080], allowInternet: true, allowCidrs: ['192.168.7.0/24'] })],
    members: [{ agent: 2, team: 1 }],
  };
  await expect(renderRuleset(elementsOf(policy, ['192.0.2.1']))).toMatchFileSnapshot('ruleset.golden.nft');
});
