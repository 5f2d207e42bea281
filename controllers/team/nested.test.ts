import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '#api/limits.ts';
import { agentNamesOf, reservationsOf, reservedIn } from '#api/team-budget.ts';
import type { Agent, Team } from '#api/types.ts';
import type { Client } from '#client/client.ts';
import { interceptClient } from '#runtime/testing.ts';
import { bench, conditionOf, newAgent, newTeam } from '../../test/support/controllers.ts';
import { teamController } from './controller.ts';
import { amountOf } from './reservation.ts';

function setUp() {
  const world = bench();
  const team = (name: string) => world.get<Team>('Team', name) as Team;
  const look = async (...names: string[]) => {
    for (const name of names) await world.reconcile(teamController({ client: world.client }), 'Team', name);
  };
  return {
    ...world,
    team,
    look,
    /** Until nothing changes any more. */
    async settle() {
      let before = -1;
      for (let round = 0; before !== world.store.resourceVersion; round++) {
        if (round > 50) throw new Error('the teams change for ever');
        before = world.store.resourceVersion;
        await look(...world.store.list('Team').items.map(({ metadata }) => metadata.name));
      }
    },
    agents: () => world.store.list('Agent').items.map(({ metadata }) => metadata.name),
    create: (name: string, spec: object = {}) => world.client.create<Team>(newTeam(name, { ...spec })),
    async change(name: string, spec: object) {
      await world.client.update<Team>({ ...team(name), spec: { ...team(name).spec, ...spec } });
    },
    remove: (name: string) => world.client.delete({ kind: 'Team', namespace: 'default', name }),
    ready: (name: string) => conditionOf(team(name), 'Ready'),
  };
}

const budget = (maxAgents: number, maxDepth = 3) => ({ budget: { maxAgents, maxDepth } });

describe('the five standard cases of a sub-team', () => {
  it('converges from empty: owned by its parent, its budget set aside, its agents made', async () => {
    const { create, settle, team, agents } = setUp();
    const parent = await create('top', budget(10));
    await create('sub', { parent: 'top', ...budget(4) });
    await settle();
    expect(team('sub').metadata.ownerReferences).toEqual([
      { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Team', name: 'top', uid: parent.metadata.uid, blockOwnerDeletion: true },
    ]);
    expect(team('top').status?.budget).toEqual({
      used: 1,
      reserved: 4,
      remaining: 5,
      reservations: [{ uid: team('sub').metadata.uid, name: 'sub', maxAgents: 4 }],
    });
    expect([team('top').status?.depth, team('sub').status?.depth, team('sub').status?.budget]).toEqual([
      0,
      1,
      { used: 1, reserved: 0, remaining: 3 },
    ]);
    expect(agents()).toEqual(['sub-worker', 'top-worker']);
  });

  it('changes nothing on the second pass', async () => {
    const { create, settle, look, store } = setUp();
    await create('top', budget(10));
    await create('sub', { parent: 'top', ...budget(4) });
    await settle();
    const { resourceVersion } = store;
    await look('top', 'sub');
    expect(store.resourceVersion).toBe(resourceVersion);
  });

  it('follows a changed spec: more is asked for, less is given back', async () => {
    const { create, settle, change, team, ready, client } = setUp();
    await create('top', budget(10));
    await create('sub', { parent: 'top', ...budget(4) });
    await settle();
    await change('sub', budget(8));
    await settle();
    expect(reservedIn(team('top'))).toBe(8);
    await change('sub', budget(20));
    await settle();
    expect([reservedIn(team('top')), ready('sub')]).toEqual([
      8,
      'False QuotaExceeded: team top has no room for the 20 agents of team sub: budget.maxAgents is 10: 1 of its own, 8 set aside for sub; 9 remain',
    ]);
    await change('sub', budget(8));
    await client.create<Agent>(newAgent('helper', { team: 'sub' }));
    await client.create<Agent>(newAgent('other', { team: 'sub' }));
    await settle();
    await change('sub', budget(2));
    await settle();
    // Three agents exist: their places are not given back before they are gone.
    expect(reservedIn(team('top'))).toBe(3);
    await client.delete({ kind: 'Agent', namespace: 'default', name: 'helper' });
    await settle();
    expect(reservedIn(team('top'))).toBe(2);
  });

  it('says who has no room, and goes on by itself when there is', async () => {
    const { create, settle, ready, agents, change, ctx } = setUp();
    await create('top', budget(5));
    await create('sub', { parent: 'top', ...budget(5) });
    await settle();
    expect(ready('sub')).toBe(
      'False QuotaExceeded: team top has no room for the 5 agents of team sub: budget.maxAgents is 5: 1 of its own; 4 remain',
    );
    expect(agents()).toEqual(['top-worker']);
    expect(ctx.recorded.filter(({ reason }) => reason === 'QuotaExceeded')).toHaveLength(1);
    await change('top', budget(6));
    await settle();
    expect([ready('sub'), agents()]).toEqual(['False Starting: agent sub-worker: has not reported yet', ['sub-worker', 'top-worker']]);
  });

  it('goes before its parent and gives back its budget, also when a part of it cannot go yet', async () => {
    const { create, settle, look, remove, team, client, get, store, ready } = setUp();
    await create('top', budget(10));
    await create('sub', { parent: 'top', ...budget(4) });
    await create('leaf', { parent: 'sub', ...budget(2) });
    await settle();
    const held = get<Agent>('Agent', 'leaf-worker') as Agent;
    await client.update<Agent>({ ...held, metadata: { ...held.metadata, finalizers: ['x/held'] } });
    const gone: string[] = [];
    store.watch('Team', {}, ({ type, object }) => {
      if (type === 'DELETED') gone.push(object.metadata.name);
    });
    await remove('top');
    await settle();
    expect([gone, ready('top'), ready('sub'), ready('leaf')]).toEqual([
      [],
      'False Terminating: waits for sub-teams: sub',
      'False Terminating: waits for sub-teams: leaf',
      'False Terminating: waits for agents and tasks: leaf-worker',
    ]);
    expect([team('top').status?.phase, reservedIn(team('sub'))]).toEqual(['Terminating', 2]);
    const freed = get<Agent>('Agent', 'leaf-worker') as Agent;
    await client.update<Agent>({ ...freed, metadata: { ...freed.metadata, finalizers: [] } });
    await look('leaf');
    expect(reservationsOf(team('sub'))).toEqual([]);
    await settle();
    expect([gone, store.list('Agent').items]).toEqual([['leaf', 'sub', 'top'], []]);
  });
});

describe('a sub-team', () => {
  it('waits for a parent that does not exist', async () => {
    const { create, settle, ready, agents } = setUp();
    await create('sub', { parent: 'top' });
    await settle();
    expect([ready('sub'), agents()]).toEqual([
      'False ParentNotFound: there is no team top in this namespace; create it, or this team without a parent',
      [],
    ]);
    await create('top', budget(20));
    await settle();
    expect(agents()).toEqual(['sub-worker', 'top-worker']);
  });

  it('that was written just before its parent was deleted makes nothing', async () => {
    const { create, settle, ready, agents, remove, team, client } = setUp();
    await create('top', budget(10));
    await settle();
    await client.update<Team>({ ...team('top'), metadata: { ...team('top').metadata, finalizers: ['x/held'] } });
    await create('sub', { parent: 'top', ...budget(2) });
    await remove('top');
    await settle();
    expect([ready('sub'), agents()]).toEqual(['False ParentTerminating: team top is being deleted', ['top-worker']]);
    await client.update<Team>({ ...team('top'), metadata: { ...team('top').metadata, finalizers: [] } });
    await settle();
    expect(ready('sub')).toMatch(/^False ParentNotFound/);
  });

  it('is deleted alone, and its place is free for another', async () => {
    const { create, settle, remove, team, ready, agents } = setUp();
    await create('top', budget(7));
    await create('one', { parent: 'top', ...budget(6) });
    await settle();
    await create('two', { parent: 'top', ...budget(6) });
    await settle();
    expect(ready('two')).toMatch(/^False QuotaExceeded: team top /);
    await remove('one');
    await settle();
    expect([reservationsOf(team('top')).map(({ name }) => name), agents()]).toEqual([['two'], ['top-worker', 'two-worker']]);
  });

  it('that vanished without giving back is forgotten by its parent', async () => {
    const { create, settle, team, client, remove } = setUp();
    await create('top', budget(7));
    await create('sub', { parent: 'top', ...budget(6) });
    await settle();
    await client.update<Team>({ ...team('sub'), metadata: { ...team('sub').metadata, finalizers: [] } });
    await remove('sub');
    await settle();
    expect(team('top').status?.budget).toEqual({ used: 1, reserved: 0, remaining: 6 });
  });

  it('waits with its parent for room further up, and names who has none', async () => {
    const { create, settle, ready, agents, change } = setUp();
    await create('top', budget(5));
    await create('sub', { parent: 'top', ...budget(10) });
    await create('leaf', { parent: 'sub', ...budget(2) });
    await settle();
    expect(ready('leaf')).toBe('False QuotaExceeded: team top has no room for the 10 agents of team sub, and leaf needs 2 of them');
    expect(agents()).toEqual(['top-worker']);
    await change('top', budget(11));
    await settle();
    expect(agents()).toEqual(['leaf-worker', 'sub-worker', 'top-worker']);
  });

  it('stands at level 3 at most, by whatever way it came', async () => {
    const { create, settle, ready } = setUp();
    // The deepest first: admission knows nothing of what is above it.
    await create('e', { parent: 'd', ...budget(1) });
    for (const [name, parent] of [
      ['d', 'c'],
      ['c', 'b'],
      ['b', 'a'],
    ])
      await create(name as string, { parent, ...budget(3) });
    await create('a', budget(20));
    await settle();
    expect(ready('e')).toBe(
      'False DepthExceeded: team e stands too deep: it would be at level 4; the deepest level is 3 (limits.maxNestingDepth)',
    );
  });

  it('stands as deep as the limits say by now, and there are as many agents', async () => {
    const { client, create, ready, reconcile } = setUp();
    const limits = { maxNestingDepth: 1, maxAgentsPerTeam: 1, maxAgents: 1 };
    const controller = teamController({ client, limits });
    const look = async (...names: string[]) => {
      for (const name of names) await reconcile(controller, 'Team', name);
    };
    await create('a', { ...budget(20), roles: [{ name: 'coder', count: 2 }] });
    await create('b', { parent: 'a', ...budget(3), roles: [{ name: 'coder' }] });
    await create('c', { parent: 'b', ...budget(1), roles: [{ name: 'coder' }] });
    await look('a', 'b', 'c', 'b', 'c');
    expect(ready('a')).toContain('QuotaExceeded: team a asks for 2 agents; at most 1 per team');
    expect(ready('c')).toContain('the deepest level is 1 (limits.maxNestingDepth)');
    Object.assign(limits, { maxNestingDepth: 2, maxAgentsPerTeam: 2, maxAgents: 9 });
    await look('a', 'b', 'c', 'b', 'c');
    for (const name of ['a', 'b', 'c']) expect(ready(name)).not.toMatch(/QuotaExceeded|DepthExceeded/);
  });

  it('cannot be its own ancestor', async () => {
    const { create, settle, ready } = setUp();
    await create('a', { parent: 'b' });
    await create('b', { parent: 'a' });
    await settle();
    for (const name of ['a', 'b']) expect(ready(name)).toMatch(/^False DepthExceeded: .* its parents form a ring; one of them must be/);
  });

  it('says what a narrowed parent leaves it, once, and keeps the stricter isolation', async () => {
    const { create, settle, change, team, ctx, get } = setUp();
    await create('top', { ...budget(10), network: { allowInternet: true }, messaging: { broadcast: 'Any' } });
    await create('sub', { parent: 'top', ...budget(2), network: { allowInternet: true }, messaging: { broadcast: 'Any' } });
    await settle();
    expect(conditionOf(team('sub'), 'PolicyRestricted')).toBeUndefined();
    await change('top', {
      network: { ...team('top').spec.network, allowInternet: false },
      isolation: { ...team('top').spec.isolation, minimum: 'sandbox' },
    });
    await settle();
    expect(conditionOf(team('sub'), 'PolicyRestricted')).toBe(
      'True NarrowedByParent: asked for and not in force: spec.network.allowInternet true (team top has false); ' +
        'spec.isolation.minimum "process" (team top has sandbox)',
    );
    expect(ctx.recorded.filter(({ reason }) => reason === 'PolicyRestricted')).toHaveLength(1);
    expect(get<Agent>('Agent', 'sub-worker')?.spec.isolation?.minimum).toBe('sandbox');
    await change('sub', {
      network: { ...team('sub').spec.network, allowInternet: false },
      isolation: { ...team('sub').spec.isolation, minimum: 'vm' },
    });
    await settle();
    expect(conditionOf(team('sub'), 'PolicyRestricted')).toBeUndefined();
  });

  it('tells its parent and its descendants when something changes for them', () => {
    const { client } = setUp();
    const toKeys = teamController({ client }).watches?.find(({ kind }) => kind === 'Team')?.toKeys;
    const seen = (name: string, parent: string | undefined, type: 'ADDED' | 'MODIFIED' | 'DELETED', maxAgents = 1) =>
      toKeys?.({ metadata: { namespace: 'n', name, uid: name }, spec: { parent, ...budget(maxAgents) } } as unknown as Team, type).map(
        (key) => key.name,
      );
    expect(seen('leaf', 'sub', 'ADDED')).toEqual([]);
    expect(seen('sub', 'top', 'ADDED')).toEqual(['leaf']);
    expect(seen('top', undefined, 'ADDED')).toEqual(['sub', 'leaf']);
    expect(seen('top', undefined, 'MODIFIED')).toEqual([]);
    expect(seen('top', undefined, 'MODIFIED', 2)).toEqual(['sub', 'leaf']);
    expect(seen('leaf', 'sub', 'DELETED')).toEqual(['sub']);
    expect(seen('sub', 'top', 'MODIFIED', 2)).toEqual(['top']);
  });
});

describe('amountOf', () => {
  it.each([
    { name: 'nothing yet', maxAgents: 4, present: 0, held: 0, want: 4 },
    { name: 'more', maxAgents: 8, present: 4, held: 2, want: 8 },
    { name: 'less, and all fits', maxAgents: 2, present: 4, held: 1, want: 2 },
    { name: 'less than what exists', maxAgents: 2, present: 4, held: 3, want: 3 },
    { name: 'never more than it had when it shrinks', maxAgents: 2, present: 4, held: 9, want: 4 },
  ])('asks for $want with $name', ({ maxAgents, present, held, want }) => {
    expect(amountOf({ spec: budget(maxAgents) } as unknown as Team, present, held)).toBe(want);
  });
});

describe('limits', () => {
  it('refuses a team that is too large, whatever its budget', async () => {
    const { create, settle, ready, agents } = setUp();
    await create('big', { roles: [{ name: 'x', count: 21 }], ...budget(30) });
    await settle();
    expect(ready('big')).toBe('False QuotaExceeded: team big asks for 21 agents; at most 20 per team (limits.maxAgentsPerTeam)');
    expect(agents()).toEqual([]);
  });

  it('lets two teams that race for the last places of the machine have them once', async () => {
    const { client, create, reconcile, store, ready } = setUp();
    const controller = teamController({ client, limits: { ...DEFAULT_LIMITS, maxAgents: 5 } });
    await create('one', { roles: [{ name: 'x', count: 3 }] });
    await create('two', { roles: [{ name: 'x', count: 3 }] });
    await Promise.all([reconcile(controller, 'Team', 'one'), reconcile(controller, 'Team', 'two')]);
    expect(store.count('Agent')).toBe(3);
    const texts = [ready('one'), ready('two')].join();
    expect(texts).toContain('False QuotaExceeded: at most 5 agents run here (limits.maxAgents); 3 exist or are being made, team');
  });
});

/** The same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Every call takes as many turns as chance wants, so that passes meet in every way. */
function slowed(client: Client, random: () => number): Client {
  return interceptClient(client, async () => {
    for (let turns = Math.floor(random() * 6); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
  });
}

describe('sub-teams that race for a budget', () => {
  const SEEDS = Array.from({ length: 60 }, (_, index) => index + 1);

  it.each(SEEDS)('get what there is once, and no version shows more (seed %i)', async (seed) => {
    const random = randomFrom(seed);
    const { client, create, reconcile, store, team, remove, change, settle, agents, ready } = setUp();
    const controller = teamController({ client: slowed(client, random) });
    const exceeded: unknown[] = [];
    store.watch('Team', {}, ({ object }) => {
      const seen = object as Team;
      if (agentNamesOf(seen).length + reservedIn(seen) > seen.spec.budget.maxAgents) exceeded.push(seen.status?.budget);
    });
    await create('top', budget(12));
    const names = ['one', 'two', 'three', 'top'];
    for (const name of ['one', 'two']) await create(name, { parent: 'top', ...budget(6) });
    await create('three', { parent: 'top', ...budget(4) });
    const round = () => Promise.all(names.map((name) => reconcile(controller, 'Team', name)));
    for (let count = 0; count < 6; count++) await round();
    expect(exceeded, `seed ${seed}`).toEqual([]);
    const winner = ready('one')?.includes('QuotaExceeded') ? 'two' : 'one';
    const loser = winner === 'one' ? 'two' : 'one';
    expect(
      reservationsOf(team('top'))
        .map(({ name }) => name)
        .sort(),
      `seed ${seed}`,
    ).toEqual([winner, 'three'].sort());
    expect(ready(loser)).toMatch(/^False QuotaExceeded: team top has no room for the 6 agents /);
    expect(agents()).not.toContain(`${loser}-worker`);
    const meanwhile = random() < 0.5 ? remove(winner) : change(winner, budget(1)).catch(() => {});
    await Promise.all([meanwhile, round(), round()]);
    await settle();
    if (team(winner)) await change(winner, budget(1));
    await settle();
    expect(agents(), `seed ${seed}`).toContain(`${loser}-worker`);
    expect(exceeded, `seed ${seed}`).toEqual([]);
  });
});
