import { describe, expect, it } from 'vitest';
import { localClient } from '#client/local.ts';
import { newAgent, newTask, newTeam } from '../../test/support/controllers.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import { admission, kinds } from './kinds.ts';
import type { Agent, Team } from './types.ts';

function setUp() {
  const store = memoryStore({ kinds, admission });
  const client = localClient(store);
  const get = (name: string) => store.get({ kind: 'Team', namespace: 'default', name }) as Team;
  return {
    client,
    get,
    create: (name: string, spec: object = {}) => client.create<Team>(newTeam(name, { ...spec })),
    change: (name: string, spec: object) => client.update<Team>({ ...get(name), spec: { ...get(name).spec, ...spec } }),
    reserve: (name: string, maxAgents: number) =>
      client.updateStatus<Team>({ ...get(name), status: { budget: { reservations: [{ uid: 'u', name: 'sub', maxAgents }] } } }),
  };
}

describe('a Team beside the stored ones', () => {
  it('is refused when it asks for more than its parent, at creation and later, with the field', async () => {
    const { create, change } = setUp();
    await create('top', { subTeams: 'Any' });
    await expect(create('sub', { parent: 'top', network: { allowInternet: true } })).rejects.toMatchObject({
      code: 'Invalid',
      message:
        'Team "sub" is invalid: spec.network.allowInternet: Invalid value: true: a sub-team cannot have more than its parent: team top has false',
      fields: [{ path: 'spec.network.allowInternet' }],
    });
    await create('sub', { parent: 'top' });
    await expect(change('sub', { messaging: { enabled: true, broadcast: 'Any' } })).rejects.toThrow('team top has Lead');
  });

  it('may be written when its parent was narrowed, or is not there', async () => {
    const { create, change, get, client } = setUp();
    await create('early', { parent: 'nobody', network: { allowInternet: true } });
    await create('top', { network: { allowInternet: true } });
    await create('sub', { parent: 'top', network: { allowInternet: true } });
    await change('top', { network: {} });
    await change('sub', { description: 'still here' });
    await client.updateStatus<Team>({ ...get('sub'), status: { phase: 'Ready' } });
    expect(get('sub')).toMatchObject({ spec: { description: 'still here' }, status: { phase: 'Ready' } });
  });

  it('may be below no parent, too deep, and beyond the room there is: controllers say so where files are followed', async () => {
    const { create } = setUp();
    for (const [name, parent] of [['e', 'd'], ['d', 'c'], ['c', 'b'], ['b', 'a'], ['a']]) {
      await create(name as string, { ...(parent ? { parent } : {}), budget: { maxAgents: 10 } });
    }
  });

  it('cannot take back what is set aside for a sub-team', async () => {
    const { create, change, reserve } = setUp();
    await create('top', { roles: [{ name: 'dev', count: 3 }] });
    await reserve('top', 6);
    await expect(change('top', { budget: { maxAgents: 8, maxDepth: 3 } })).rejects.toMatchObject({
      reason: 'QuotaExceeded',
      fields: [
        {
          path: 'spec.budget.maxAgents',
          message:
            'Invalid value: 8: budget.maxAgents 8 is not enough: 3 of its own, 6 set aside for sub; lower a count, raise budget.maxAgents or delete a sub-team',
        },
      ],
    });
    await expect(change('top', { roles: [{ name: 'dev', count: 5 }] })).rejects.toMatchObject({ fields: [{ path: 'spec.roles' }] });
    await change('top', { roles: [{ name: 'dev', count: 4 }] });
    await reserve('top', 9);
    // Too much already, by whatever way: less is welcome.
    await change('top', { roles: [{ name: 'dev', count: 2 }] });
  });
});

describe('an Agent made by hand', () => {
  it('joins a team inside its budget', async () => {
    const { create, client, reserve } = setUp();
    await create('a', { roles: [{ name: 'dev', count: 2 }], budget: { maxAgents: 4 } });
    await client.create<Agent>(newAgent('one'));
    await reserve('a', 1);
    await expect(client.create<Agent>(newAgent('two'))).rejects.toMatchObject({
      code: 'Invalid',
      reason: 'QuotaExceeded',
      fields: [
        { path: 'spec.team', message: 'Forbidden: budget.maxAgents of team a is 4: 3 of its own, 1 set aside for sub (QuotaExceeded)' },
      ],
    });
    // The team counted these before it made them, and a team may come later than its agents.
    await client.create<Agent>(newAgent('a-dev-1'));
    await client.create<Agent>(newAgent('stray', { team: 'nobody' }));
  });
});

describe('short names inside a team', () => {
  it.each([
    { kind: 'Task', draft: newTask },
    { kind: 'Agent', draft: newAgent },
  ])('mean one $kind', async ({ kind, draft }) => {
    const { client } = setUp();
    await client.create(draft('a-coder'));
    await expect(client.create(draft('coder'))).rejects.toMatchObject({
      code: 'Invalid',
      fields: [
        {
          path: 'metadata.name',
          message: `Duplicate value: "coder": ${kind} a-coder is called "coder" in team a already; choose another name`,
        },
      ],
    });
    await client.create(draft('coder', { team: 'b' }));
    await expect(client.create(draft('b-coder', { team: 'b' }))).rejects.toThrow(`${kind} coder is called "coder" in team b already`);
    // Called a-coder and coder: not the same.
    await client.create(draft('a-a-coder'));
  });
});
