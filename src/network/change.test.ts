import { describe, expect, it } from 'vitest';
import { planChange } from './change.ts';
import { planRules } from './diff.ts';
import type { Policy, TeamPolicy } from './network.ts';
import { elementsOf } from './ruleset.ts';

const HOSTS = ['192.0.2.1'];

function team(number: number, rest: Partial<TeamPolicy> = {}): TeamPolicy {
  return { team: number, allowInterAgent: true, allowedPorts: [8080], allowInternet: false, allowCidrs: [], ...rest };
}

const POLICY: Policy = { teams: [team(1), team(2, { parent: 1 })], members: [2, 3].map((agent) => ({ agent, team: 1 })) };
const plan = (before: Policy, after: Policy, hosts = HOSTS) => planChange({ policy: before, hosts: HOSTS }, { policy: after, hosts });

describe('a change of the policy', () => {
  it('by one agent is a transaction about this agent', () => {
    const after = { ...POLICY, members: [...POLICY.members, { agent: 4, team: 2 }] };
    const changes = ['add team_of 10.99.0.4 : 2', 'add pair_of 1 . 10.99.0.4 : 16777218', 'add pair_of 2 . 10.99.0.4 : 16777218'];
    expect(plan(POLICY, after)).toMatchObject({ changes });
    expect(plan(after, POLICY)).toMatchObject({ changes: changes.map((change) => change.replace('add', 'delete')) });
  });

  it('of the host is a transaction about the host', () => {
    expect(plan(POLICY, POLICY, ['192.0.2.2'])).toMatchObject({ changes: ['delete host 192.0.2.1', 'add host 192.0.2.2'] });
  });

  it('is nothing when only the order differs', () => {
    expect(plan(POLICY, { teams: [...POLICY.teams].reverse(), members: [...POLICY.members].reverse() })).toBe('nothing');
  });

  it.each([
    ['ranges differ', { ...POLICY, teams: [team(1, { allowCidrs: ['10.0.0.0/8'] }), team(2, { parent: 1 })] }],
    ['an agent has two teams', { ...POLICY, members: [...POLICY.members, { agent: 2, team: 2 }] }],
    ['a team has two policies', { ...POLICY, teams: [...POLICY.teams, team(1, { allowInternet: true })] }],
  ])('is not told from the change alone when %s', (_when, after) => {
    expect(plan(POLICY, after)).toBe('unclear');
  });

  it('is what a comparison of everything would say, whatever it is', () => {
    const seed = Date.now() % 1_000_000;
    console.info(`seed ${seed}`);
    const random = numbersFrom(seed);
    let before = randomPolicy(random);
    for (let round = 0; round < 300; round++) {
      const after = random(10) === 0 ? randomPolicy(random) : mutate(before, random);
      const full = planRules({ shape: '', elements: elementsOf(before, HOSTS) }, elementsOf(after, HOSTS), '');
      const quick = plan(before, after);
      expect(typeof quick === 'string' ? quick : [...(quick.changes ?? [])].sort()).toEqual(
        full ? [...(full.changes ?? [])].sort() : 'nothing',
      );
      before = after;
    }
  });
});

type Random = (below: number) => number;

function numbersFrom(seed: number): Random {
  let state = seed + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

function randomTeam(number: number, random: Random): TeamPolicy {
  const parent = random(2) === 0 ? {} : { parent: 1 + random(8) };
  return team(number, {
    allowInterAgent: random(4) > 0,
    allowedPorts: Array.from({ length: random(3) }, () => 8080 + random(3)),
    allowInternet: random(2) === 0,
    ...(parent.parent === number ? {} : parent),
  });
}

function randomPolicy(random: Random): Policy {
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8].filter(() => random(4) > 0);
  const members = Array.from({ length: 20 }, (_, index) => ({ agent: 2 + index, team: 1 + random(8) })).filter(() => random(3) > 0);
  return { teams: numbers.map((number) => randomTeam(number, random)), members };
}

/** One team or one agent is another than before, new or gone. */
function mutate({ teams, members }: Policy, random: Random): Policy {
  const number = 1 + random(8);
  const agent = 2 + random(20);
  const others = { teams: teams.filter(({ team: each }) => each !== number), members: members.filter((each) => each.agent !== agent) };
  if (random(2) === 0) return { teams: random(3) === 0 ? others.teams : [...others.teams, randomTeam(number, random)], members };
  return { teams, members: random(3) === 0 ? others.members : [...others.members, { agent, team: 1 + random(8) }] };
}
