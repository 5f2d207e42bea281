import { describe, expect, it } from 'vitest';
import { preparedGolden } from '#api/golden.ts';
import type { Agent, Snapshot, Team } from '#api/types.ts';
import { StalledError, WaitingError } from '#lib/errors.ts';
import { bench, conditionOf, newAgent, newTeam } from '../../test/support/controllers.ts';
import { fakeDriver } from '../../test/support/fake-driver.ts';
import { teamController } from '../team/controller.ts';
import { snapshotController } from './controller.ts';
import type { Prepared } from './deps.ts';

/** A team `a` whose golden snapshot is to be prepared. */
async function setUp() {
  const world = bench();
  const { client } = world;
  const asked: string[] = [];
  let answer: () => Prepared | undefined = () => undefined;
  const controller = snapshotController({
    client,
    goldens: {
      async prepare({ metadata }, team) {
        asked.push(`prepare ${metadata.name} for ${team.metadata.name}`);
        return answer();
      },
      end: async ({ metadata }) => void asked.push(`end ${metadata.name}`),
      wake: () => () => {},
    },
    snapshotting: {
      drivers: [fakeDriver()],
      watches: [],
      settle: async () => undefined,
      keepBase: async () => undefined,
      forgetBase: async () => undefined,
    },
  });
  const team = await client.create<Team>(newTeam('a', { golden: { setupCommands: ['make'] } }));
  const teams = teamController({ client });
  await world.reconcile(teams, 'Team', 'a');
  const { name } = preparedGolden(team) as { name: string };
  const snapshot = () => world.get<Snapshot>('Snapshot', name);
  const look = (so: () => Prepared | undefined = answer) => {
    answer = so;
    return world.reconcile(controller, 'Snapshot', name).catch(() => undefined);
  };
  return { ...world, name, snapshot, look, asked, teams };
}

const KEPT: Prepared = { state: 'kept', bytes: 4_096, driver: 'process' };

describe('a golden snapshot', () => {
  it('is prepared once and kept', async () => {
    const { look, snapshot, name, asked, ctx } = await setUp();
    await look();
    expect([snapshot()?.status?.phase, conditionOf(snapshot(), 'Ready')]).toEqual([
      'Pending',
      'False Preparing: its workspace is made, and its commands run',
    ]);
    await look(() => KEPT);
    await look();
    expect(snapshot()?.status).toMatchObject({ phase: 'Ready', bytes: 4_096, driver: 'process', takenAt: '2026-01-02T03:04:05.000Z' });
    expect(asked).toEqual([`prepare ${name} for a`, `prepare ${name} for a`]);
    expect(ctx.recorded.map(({ reason }) => reason)).toEqual(['GoldenPrepared']);
  });

  it('that has failed says how, and is not tried again by itself', async () => {
    const { look, snapshot, name, asked } = await setUp();
    await look(() => ({ state: 'failed', command: 'make', exitCode: 2, output: 'no rule\n' }));
    const said = `make ended with 2; it said last: no rule\nchange spec.golden of the Team, or delete snapshot ${name} to try again`;
    expect([snapshot()?.status?.phase, conditionOf(snapshot(), 'Ready')]).toEqual(['Failed', `False GoldenFailed: ${said}`]);
    await look(() => KEPT);
    expect([snapshot()?.status?.phase, asked.length]).toEqual(['Failed', 1]);
  });

  it.each([new WaitingError('GoldenFailed', 'it cannot be read', 5_000), new StalledError('IsolationUnavailable', 'no sandbox')])(
    'goes on after what passes: $reason',
    async (error) => {
      const { look, snapshot } = await setUp();
      await look(() => {
        throw error;
      });
      expect([snapshot()?.status?.phase, conditionOf(snapshot(), 'Ready')]).toEqual(['Pending', `False ${error.reason}: ${error.message}`]);
      await look(() => KEPT);
      expect(snapshot()?.status?.phase).toBe('Ready');
    },
  );

  it('that no team has made is none', async () => {
    const { client, look, snapshot, reconcile, teams, name } = await setUp();
    await client.update<Snapshot>({ ...(snapshot() as Snapshot), metadata: { ...(snapshot() as Snapshot).metadata, ownerReferences: [] } });
    await look(() => KEPT);
    expect(conditionOf(snapshot(), 'Ready')).toBe(
      `False NotOfTeam: team a has not made snapshot ${name}; a Team makes its golden snapshot itself, delete this one`,
    );
    await reconcile(teams, 'Team', 'a');
  });

  it('is not taken from under a member that has not begun, but never stays for what was not kept', async () => {
    const { client, look, snapshot, name, get, asked } = await setUp();
    await client.create<Agent>(newAgent('by-hand'));
    await look(() => KEPT);
    await client.delete({ kind: 'Snapshot', namespace: 'default', name });
    await look();
    expect(conditionOf(snapshot(), 'Ready')).toMatch(/^False InUse: agent a-worker is to begin as a copy of it/);
    for (const each of ['a-worker', 'by-hand']) {
      const agent = get<Agent>('Agent', each) as Agent;
      await client.updateStatus<Agent>({ ...agent, status: { source: { snapshot: name } } });
    }
    await look();
    expect([snapshot(), asked.at(-1)]).toEqual([undefined, `end ${name}`]);
    const other = await setUp();
    await other.look(() => ({ state: 'failed', command: 'make', exitCode: 2, output: '' }));
    await other.client.delete({ kind: 'Snapshot', namespace: 'default', name });
    await other.look();
    expect(other.snapshot()).toBeUndefined();
  });
});
