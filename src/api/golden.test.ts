import { describe, expect, it } from 'vitest';
import { beginsGolden, goldenOf, goldenProblems, preparedGolden } from './golden.ts';
import type { Agent, Snapshot, Team } from './types.ts';

const golden = { image: 'base', snapshot: 'golden', allowInternet: false };
const team = (given: object, more: object = {}, name = 'shop') =>
  ({ metadata: { name }, spec: { golden: { ...golden, ...given }, ...more } }) as unknown as Team;
const snapshot = (name: string, spec: object) => ({ metadata: { name }, spec }) as unknown as Snapshot;

describe('the prepared snapshot of a team', () => {
  it('is another one when anything of it changes, and the same whatever else does', () => {
    const names = [
      team({}),
      team({ image: 'rust' }),
      team({ gitUrl: 'file:///a' }),
      team({ setupCommands: ['a', 'b'] }),
      team({ setupCommands: ['a b'] }),
      team({ allowInternet: true }),
    ].map((each) => preparedGolden(each)?.name);
    expect(new Set(names).size).toBe(names.length);
    expect(names[0]).toMatch(/^shop-golden-[0-9a-f]{8}$/);
    expect(preparedGolden(team({ gitUrl: null, setupCommands: [], from: null }, { suspend: true }))?.name).toBe(names[0]);
    expect([preparedGolden(team({ from: 'lab/ann' })), preparedGolden({ metadata: {}, spec: {} } as Team)]).toEqual([undefined, undefined]);
  });

  it('is the one that was prepared for this team and this golden', () => {
    const { name = '', hash = '' } = preparedGolden(team({})) ?? {};
    const found = (spec: object) => goldenOf(team({}), (asked) => (asked === name ? snapshot(name, spec) : undefined));
    expect(found({ team: 'shop', golden: hash })?.metadata.name).toBe(name);
    expect([found({ team: 'lab', golden: hash }), found({ team: 'shop', agent: 'shop-x' })]).toEqual([undefined, undefined]);
  });
});

describe('the snapshot of somebody else', () => {
  it.each([
    { from: 'lab/ann', called: 'first', there: 'lab-ann-first', agent: 'lab-ann', isFound: true },
    { from: 'lab/lab-ann', called: 'lab-ann-first', there: 'lab-ann-first', agent: 'lab-ann', isFound: true },
    { from: 'dev/dev-1', called: 'x', there: 'dev-dev-1-x', agent: 'dev-dev-1', isFound: true },
    { from: 'lab/ann', called: 'first', there: 'lab-ann-first', agent: 'lab-bob', isFound: false },
    { from: 'lab/bob', called: 'first', there: 'lab-ann-first', agent: 'lab-ann', isFound: false },
  ])('$from $called: $there of $agent, $isFound', ({ from, called, there, agent, isFound }) => {
    const [owner] = from.split('/');
    const found = goldenOf(team({ from, snapshot: called }), (name) =>
      name === there ? snapshot(there, { team: owner, agent }) : undefined,
    );
    expect(found?.metadata.name).toBe(isFound ? there : undefined);
  });
});

it.each([
  { what: {}, is: true },
  { what: { status: { phase: 'Pending' } }, is: true },
  { what: { status: { incarnation: 'run-1' } }, is: false },
  { what: { status: { source: { snapshot: 's' } } }, is: false },
  { what: { spec: { source: { agent: 'a', snapshot: 's' } } }, is: false },
  { what: { metadata: { deletionTimestamp: 'now' } }, is: false },
])('an agent is about to begin: $what, $is', ({ what, is }) => {
  expect(beginsGolden({ metadata: {}, spec: {}, ...what } as unknown as Agent)).toBe(is);
});

it.each([
  { given: {}, more: {}, at: [] },
  {
    given: { from: 'a/b', gitUrl: 'file:///x', setupCommands: ['true'] },
    more: {},
    at: ['spec.golden.gitUrl', 'spec.golden.setupCommands'],
  },
  { given: { gitUrl: 'file:///x' }, more: { repo: { path: '/x', url: null } }, at: ['spec.golden.gitUrl'] },
  { given: { gitUrl: 'file:///x' }, more: { repo: { path: null, url: null } }, at: [] },
  { given: { snapshot: 'x'.repeat(49) }, more: {}, at: [] },
  { given: { snapshot: 'x'.repeat(50) }, more: {}, at: ['spec.golden.snapshot'] },
])('what cannot be: $given $more', ({ given, more, at }) => {
  expect(goldenProblems(team(given, more)).map(({ path }) => path)).toEqual(at);
});
