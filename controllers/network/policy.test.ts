import { describe, expect, it } from 'vitest';
import type { Agent, Team } from '#api/types.ts';
import type { JsonObject } from '#lib/json.ts';
import { newAgent, newTeam } from '../../test/support/controllers.ts';
import { permissionsOf, policyOf, teamsByName, WORKSPACE_FINALIZER } from './policy.ts';

function team(name: string, network: JsonObject = {}, parent?: string): Team {
  const draft = newTeam(name, { network, ...(parent === undefined ? {} : { parent }) });
  return { ...draft, metadata: { ...draft.metadata, uid: `uid-${name}` } } as unknown as Team;
}

function agent(name: string, teamName: string, metadata: Partial<Agent['metadata']> = {}): Agent {
  const draft = newAgent(name, { team: teamName });
  return { ...draft, metadata: { ...draft.metadata, uid: `uid-${name}`, ...metadata } } as unknown as Agent;
}

const numbers = (table: Record<string, number>) => ({ find: (kind: string, uid: string) => table[`${kind}/${uid.slice(4)}`] });
const NOTHING = { allowInterAgent: false, allowedPorts: [], allowInternet: false, allowCidrs: [], allowDomains: [] };

describe('what a team may do', () => {
  it.each([
    { name: 'is nothing unless it says so', own: {}, parent: undefined, want: NOTHING },
    {
      name: 'is what it says when it has no parent',
      own: { allowInterAgent: true, allowedPorts: [80], allowInternet: true, allowCidrs: ['10.0.0.0/8'] },
      parent: undefined,
      want: { allowInterAgent: true, allowedPorts: [80], allowInternet: true, allowCidrs: ['10.0.0.0/8'], allowDomains: [] },
    },
    { name: 'is no more than its parent may', own: { allowInterAgent: true, allowInternet: true }, parent: {}, want: NOTHING },
    {
      name: 'has the ports that both list',
      own: { allowInterAgent: true, allowedPorts: [80, 443] },
      parent: { allowInterAgent: true, allowedPorts: [443, 8080] },
      want: { ...NOTHING, allowInterAgent: true, allowedPorts: [443] },
    },
    {
      name: 'has the ports of the one that lists any',
      own: { allowInterAgent: true },
      parent: { allowInterAgent: true, allowedPorts: [443] },
      want: { ...NOTHING, allowInterAgent: true, allowedPorts: [443] },
    },
    {
      name: 'is no talking at all when no port is common: an empty list would mean all of them',
      own: { allowInterAgent: true, allowedPorts: [80] },
      parent: { allowInterAgent: true, allowedPorts: [443] },
      want: NOTHING,
    },
    {
      name: 'has ranges that every parser understands',
      own: { allowCidrs: ['01.00.3.04/8', '10.0.0.0/8', '100.0.20.0/0'] },
      parent: undefined,
      want: { ...NOTHING, allowCidrs: ['1.0.3.4/8', '10.0.0.0/8', '100.0.20.0/0'] },
    },
    {
      name: 'has the narrower of two names, and none that the parent lacks',
      own: { allowDomains: ['a.example.com', '*.test.org', 'other.net', '*.example.com'] },
      parent: { allowDomains: ['*.example.com', 'x.test.org', 'example.com'] },
      want: { ...NOTHING, allowDomains: ['a.example.com', 'x.test.org', '*.example.com'] },
    },
    {
      name: 'has the smaller of two ranges, and none that lie apart',
      own: { allowCidrs: ['10.1.0.0/16', '192.168.0.0/16', '172.16.5.4/12'] },
      parent: { allowCidrs: ['10.0.0.0/8', '192.168.7.0/24', '8.8.8.8/32', '172.16.0.0/12'] },
      want: { ...NOTHING, allowCidrs: ['10.1.0.0/16', '192.168.7.0/24', '172.16.0.0/12'] },
    },
  ])('$name', ({ own, parent, want }) => {
    const child = team('child', own, parent ? 'parent' : undefined);
    expect(permissionsOf(child, teamsByName([child, ...(parent ? [team('parent', parent)] : [])]))).toEqual(want);
  });

  it('is bounded by every ancestor', () => {
    const all = { allowInterAgent: true };
    const teams = [team('root', {}), team('mid', all, 'root'), team('leaf', all, 'mid')];
    expect(permissionsOf(teams[2] as Team, teamsByName(teams))).toEqual(NOTHING);
  });

  it('is nothing when a parent is missing or parents run in a ring', () => {
    const all = { allowInterAgent: true, allowInternet: true };
    const orphan = team('orphan', all, 'nobody');
    expect(permissionsOf(orphan, teamsByName([orphan]))).toEqual(NOTHING);
    const ring = [team('one', all, 'two'), team('two', all, 'one')];
    expect(permissionsOf(ring[0] as Team, teamsByName(ring))).toEqual(NOTHING);
  });
});

describe('the policy', () => {
  const teams = teamsByName([team('a', { allowInterAgent: true }), team('b', { allowInterAgent: true }, 'a'), team('quiet')]);

  it('has the teams and agents that have numbers, and the number of the parent', () => {
    const known = numbers({ 'teams/a': 1, 'teams/b': 2, 'agents/x': 2, 'agents/y': 3 });
    expect(policyOf(teams, [agent('x', 'a'), agent('y', 'b'), agent('z', 'a')], known)).toEqual({
      teams: [
        { ...NOTHING, team: 1, allowInterAgent: true },
        { ...NOTHING, team: 2, allowInterAgent: true, parent: 1 },
      ],
      members: [
        { agent: 2, team: 1 },
        { agent: 3, team: 2 },
      ],
    });
  });

  it('leaves an agent in as long as its workspace may run, and out after that', () => {
    const known = numbers({ 'teams/a': 1, 'agents/x': 2, 'agents/y': 3 });
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const leaving = [agent('x', 'a', { deletionTimestamp, finalizers: [WORKSPACE_FINALIZER] }), agent('y', 'a', { deletionTimestamp })];
    expect(policyOf(teams, leaving, known).members).toEqual([{ agent: 2, team: 1 }]);
  });

  it('gives nothing to an agent whose team does not exist, or exists in another namespace', () => {
    const known = numbers({ 'teams/a': 1, 'agents/x': 2, 'agents/y': 3 });
    expect(policyOf(teams, [agent('x', 'gone'), agent('y', 'a', { namespace: 'other' })], known).members).toEqual([]);
  });
});
