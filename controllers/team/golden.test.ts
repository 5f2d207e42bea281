import { describe, expect, it } from 'vitest';
import { preparedGolden } from '#api/golden.ts';
import { API_VERSION, type Draft } from '#api/meta.ts';
import type { Snapshot, Team } from '#api/types.ts';
import { bench, conditionOf, newTeam } from '../../test/support/controllers.ts';
import { teamController } from './controller.ts';

function setUp() {
  const world = bench();
  const controller = teamController({ client: world.client });
  const team = () => world.get<Team>('Team', 'a') as Team;
  const names = (kind: string) => world.store.list(kind).items.map(({ metadata }) => metadata.name);
  const edit = async (change: object) => {
    const now = team();
    await world.client.update<Team>({ ...now, spec: { ...now.spec, ...change } } as Team);
  };
  return { ...world, team, names, edit, look: () => world.reconcile(controller, 'Team', 'a') };
}

describe('a team with a golden snapshot', () => {
  it('has one Snapshot that is its own, beside its agents, and another one when spec.golden changes', async () => {
    const { client, look, names, team, edit, get } = setUp();
    const { metadata } = await client.create<Team>(newTeam('a', { golden: { setupCommands: ['make'] } }));
    await look();
    await look();
    const first = preparedGolden(team());
    expect([names('Snapshot'), names('Agent')]).toEqual([[first?.name], ['a-worker']]);
    expect(get<Snapshot>('Snapshot', first?.name ?? '')).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Team', uid: metadata.uid, controller: true }] },
      spec: { team: 'a', golden: first?.hash },
    });
    await edit({ golden: { ...team().spec.golden, setupCommands: ['make all'] } });
    await look();
    expect(names('Snapshot')).toEqual([preparedGolden(team())?.name]);
    expect(names('Snapshot')).not.toEqual([first?.name]);
    await edit({ golden: undefined });
    await look();
    expect(names('Snapshot')).toEqual([]);
  });

  it('has none while it is suspended, or where it takes that of another agent', async () => {
    const { client, look, names, edit } = setUp();
    await client.create<Team>(newTeam('a', { golden: {}, suspend: true }));
    await look();
    expect(names('Snapshot')).toEqual([]);
    await edit({ suspend: false });
    await look();
    expect(names('Snapshot')).toHaveLength(1);
    await edit({ golden: { from: 'lab/ann', snapshot: 'golden', image: 'base', allowInternet: false } });
    await look();
    expect(names('Snapshot')).toEqual([]);
  });

  it('makes it anew when a person has deleted it, and takes nobody else’s', async () => {
    const { client, look, names, team } = setUp();
    await client.create<Team>(newTeam('a', { golden: {} }));
    await look();
    const [name = ''] = names('Snapshot');
    await client.delete({ kind: 'Snapshot', namespace: 'default', name });
    await client.create<Snapshot>({
      apiVersion: API_VERSION,
      kind: 'Snapshot',
      metadata: { name, namespace: 'default' },
      spec: { team: 'a', agent: 'a-worker' },
    } as Draft<Snapshot>);
    await look();
    expect(conditionOf(team(), 'Ready')).toBe(
      `False NameTaken: Snapshot ${name} exists and does not belong to this team; delete or rename it`,
    );
    await client.delete({ kind: 'Snapshot', namespace: 'default', name });
    await look();
    expect(names('Snapshot')).toEqual([name]);
  });

  it('goes after its agents and before itself', async () => {
    const { client, look, names, team } = setUp();
    await client.create<Team>(newTeam('a', { golden: {} }));
    await look();
    await client.delete({ kind: 'Team', namespace: 'default', name: 'a' });
    await look();
    expect([names('Agent'), names('Snapshot').length]).toEqual([[], 1]);
    await look();
    expect(names('Snapshot')).toEqual([]);
    await look();
    expect(team()).toBeUndefined();
  });
});
