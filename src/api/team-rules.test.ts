import { describe, expect, it } from 'vitest';
import { newTeam } from '../../test/support/controllers.ts';
import { admission } from './kinds.ts';
import type { KindObject } from './meta.ts';
import { depthProblem, effectivePolicy, lineageOf, policyProblems } from './team-rules.ts';
import type { Team } from './types.ts';

const team = (name: string, spec: object = {}) => admission.admit(newTeam(name, { ...spec }) as KindObject, undefined) as Team;
const lineage = (name: string, teams: readonly Team[]) => {
  const find = (wanted: string) => teams.find(({ metadata }) => metadata.name === wanted);
  return lineageOf(find(name) as Team, find);
};

describe('what a sub-team may not ask for', () => {
  it.each([
    { field: 'spec.network.allowInternet', parent: {}, child: { network: { allowInternet: true } }, says: 'true: .* team top has false' },
    { field: 'spec.network.allowInterAgent', parent: {}, child: { network: { allowInterAgent: true } }, says: 'team top has false' },
    {
      field: 'spec.network.allowedPorts[1]',
      parent: { network: { allowInterAgent: true, allowedPorts: [80, 443] } },
      child: { network: { allowInterAgent: true, allowedPorts: [80, 22] } },
      says: '22: .* team top has 80, 443',
    },
    {
      field: 'spec.network.allowedPorts',
      parent: { network: { allowInterAgent: true, allowedPorts: [80] } },
      child: { network: { allowInterAgent: true } },
      says: 'team top has 80, and an empty list means all ports',
    },
    {
      field: 'spec.network.allowCidrs[0]',
      parent: { network: { allowCidrs: ['10.1.0.0/16'] } },
      child: { network: { allowCidrs: ['10.0.0.0/8'] } },
      says: '"10.0.0.0/8": .* team top has 10.1.0.0/16',
    },
    {
      field: 'spec.network.allowDomains[1]',
      parent: { network: { allowDomains: ['*.example.com'] } },
      child: { network: { allowDomains: ['a.example.com', 'example.com'] } },
      says: '"example.com": .* team top has \\*.example.com',
    },
    { field: 'spec.network.allowDomains[0]', parent: {}, child: { network: { allowDomains: ['a.org'] } }, says: 'team top has none' },
    { field: 'spec.messaging.broadcast', parent: {}, child: { messaging: { broadcast: 'Any' } }, says: '"Any": .* team top has Lead' },
    { field: 'spec.subTeams', parent: { subTeams: 'Lead' }, child: {}, says: '"Any": .* team top has Lead' },
    {
      field: 'spec.isolation.minimum',
      parent: { isolation: { minimum: 'sandbox' } },
      child: {},
      says: '"process": .* team top has sandbox',
    },
  ])('$field', ({ field, parent, child, says }) => {
    const problems = policyProblems(team('sub', { parent: 'top', ...child }), undefined, [team('top', parent)]);
    expect(problems.map(({ path }) => path)).toEqual([field]);
    expect(problems[0]?.message).toMatch(new RegExp(`^Invalid value: .*${says}$`));
  });

  it('is nothing where it asks for the same or less', () => {
    const wide = {
      network: {
        allowInternet: true,
        allowInterAgent: true,
        allowedPorts: [80, 443],
        allowCidrs: ['10.0.0.0/8', '192.168.07.0/24'],
        allowDomains: ['*.example.com', 'a.org'],
      },
      messaging: { broadcast: 'Any' },
      subTeams: 'Any',
      isolation: { minimum: 'sandbox' },
    };
    const narrow = {
      network: {
        allowInterAgent: true,
        allowedPorts: [443],
        allowCidrs: ['10.2.0.0/16', '192.168.7.9/32'],
        allowDomains: ['*.b.example.com'],
      },
      subTeams: 'None',
      isolation: { minimum: 'vm' },
    };
    for (const child of [wide, narrow]) {
      expect(policyProblems(team('sub', child), undefined, [team('top', wide)])).toEqual([]);
    }
    const unused = { network: { allowedPorts: [22] } };
    expect(policyProblems(team('sub', unused), undefined, [team('top', { network: { allowedPorts: [80] } })])).toEqual([]);
  });

  it('is named with the nearest ancestor that refuses it', () => {
    const child = team('leaf', { network: { allowInternet: true } });
    const open = team('sub', { network: { allowInternet: true } });
    expect(policyProblems(child, undefined, [open, team('top')])[0]?.message).toContain('team top has false');
    expect(policyProblems(child, undefined, [team('mid'), team('top')])).toHaveLength(1);
    expect(policyProblems(child, undefined, [team('mid'), team('top')])[0]?.message).toContain('team mid has false');
  });

  it('is not refused for what it asked for before its parent was narrowed, only for more', () => {
    const before = team('sub', { network: { allowInternet: true, allowDomains: ['a.org', 'b.org'] } });
    const parents = [team('top')];
    expect(policyProblems({ ...before, spec: { ...before.spec, description: 'other' } }, before, parents)).toEqual([]);
    const reordered = team('sub', { network: { allowInternet: true, allowDomains: ['b.org', 'c.org'] } });
    expect(policyProblems(reordered, before, parents).map(({ path }) => path)).toEqual(['spec.network.allowDomains[1]']);
  });
});

it('gives what is in force: the least of all, of isolation the most', () => {
  const child = team('leaf', { messaging: { broadcast: 'Any' }, subTeams: 'Any', isolation: { minimum: 'process' } });
  const above = [team('sub', { messaging: { broadcast: 'Any' }, subTeams: 'Lead' }), team('top', { isolation: { minimum: 'sandbox' } })];
  expect(effectivePolicy(child, above)).toEqual({ broadcast: 'Lead', subTeams: 'Lead', minimum: 'sandbox' });
  expect(effectivePolicy(child, [])).toEqual({ broadcast: 'Any', subTeams: 'Any', minimum: 'process' });
});

describe('lineageOf', () => {
  it('leads from the parent to the top, as far as it is there', () => {
    const teams = [team('a'), team('b', { parent: 'a' }), team('c', { parent: 'b' }), team('d', { parent: 'gone' })];
    const names = (name: string) => {
      const { ancestors, missing } = lineage(name, teams);
      return [ancestors.map(({ metadata }) => metadata.name), missing];
    };
    expect([names('a'), names('c'), names('d')]).toEqual([
      [[], undefined],
      [['b', 'a'], undefined],
      [[], 'gone'],
    ]);
  });

  it('ends in a ring', () => {
    const teams = [team('a', { parent: 'c' }), team('b', { parent: 'a' }), team('c', { parent: 'b' })];
    expect(depthProblem(lineage('c', teams))).toBe('its parents form a ring; one of them must be a top-level team');
  });

  it.each([
    { maxDepths: [3, 3, 3], want: undefined },
    { maxDepths: [3, 3, 3, 3], want: 'it would be at level 4; the deepest level is 3 (limits.maxNestingDepth)' },
    { maxDepths: [3, 10, 10, 10], want: 'it would be at level 4; the deepest level is 3 (limits.maxNestingDepth)' },
    { maxDepths: [4, 4, 4, 4], deepest: 4, want: undefined },
    { maxDepths: [3, 3], deepest: 1, want: 'it would be at level 2; the deepest level is 1 (limits.maxNestingDepth)' },
    { maxDepths: [3, 1], want: 'it would be at level 2; budget.maxDepth of team t1 is 1' },
    { maxDepths: [0], want: 'it would be at level 1; budget.maxDepth of team t0 is 0' },
  ])(
    'is too deep below parents with maxDepth $maxDepths: $want',
    ({ maxDepths, deepest, want }: { maxDepths: number[]; deepest?: number; want: string | undefined }) => {
      const ancestors = maxDepths.map((maxDepth, index) => team(`t${index}`, { budget: { maxDepth } }));
      expect(depthProblem({ ancestors, isRing: false }, deepest)).toBe(want);
    },
  );
});
