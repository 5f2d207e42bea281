import { describe, expect, it } from 'vitest';
import type { Agent, Snapshot } from '#api/types.ts';
import { conditionOf, newAgent } from '../../test/support/controllers.ts';
import { fakeDriver } from '../../test/support/fake-driver.ts';
import { setUp } from './agent.fixture.ts';
import type { Golden } from './deps.ts';
import { goldenProblem } from './golden.ts';

const snapshot = (status: object, spec: object = { team: 'a', golden: '12345678' }) =>
  ({ metadata: { name: 'a-golden-12345678', uid: 'snap' }, spec, status }) as unknown as Snapshot;
const said = (reason: string, message: string) => ({ conditions: [{ type: 'Ready', status: 'False', reason, message }] });
const golden = (found: Snapshot | undefined, from?: string): Golden => ({
  name: 'a-golden-12345678',
  snapshot: found,
  ...(from !== undefined && { from }),
});
const READY = { phase: 'Ready', driver: 'process' };

describe('a member of a team with a golden snapshot', () => {
  it('waits until it is there, begins with it once, and never again', async () => {
    const { client, newController, look, driver, agent, setNetwork, ctx } = setUp();
    const { metadata } = await client.create<Agent>(newAgent('one'));
    await setNetwork('True');
    let found = snapshot({ phase: 'Pending', ...said('Preparing', 'its commands run') });
    const bases: string[] = [];
    const controller = newController({
      goldenOf: async () => golden(found),
      takeBase: async (from, to) => void bases.push(`${from} ${to}`),
    });
    await look(controller);
    await look(controller);
    expect(conditionOf(agent(), 'WorkspaceReady')).toBe(
      'False GoldenPreparing: the golden snapshot of team a, a-golden-12345678: its commands run',
    );
    expect([agent()?.status?.phase, conditionOf(agent(), 'Ready'), driver.calls]).toEqual([
      'Pending',
      expect.stringMatching(/^False GoldenPreparing/),
      [],
    ]);
    found = snapshot({ phase: 'Failed', ...said('GoldenFailed', 'make ended with 2') });
    await look(controller);
    expect(conditionOf(agent(), 'Ready')).toBe('False GoldenFailed: the golden snapshot of team a, a-golden-12345678: make ended with 2');
    found = snapshot(READY);
    await driver.create(
      { id: 'prepared', incarnation: 'p', hostname: 'x', resources: { vcpus: 1, memoryMiB: 64, diskGiB: 1 }, team: 1, egress: false },
      AbortSignal.timeout(1_000),
    );
    await driver.snapshots?.take('prepared', 'snap', AbortSignal.timeout(1_000));
    const before = driver.calls.length;
    for (let pass = 0; pass < 4; pass++) await look(controller);
    expect(driver.calls.slice(before)).toEqual([`restore ${metadata.uid} snap`, `create ${metadata.uid} run-1`]);
    expect([agent()?.status?.source, bases]).toEqual([{ snapshot: 'a-golden-12345678' }, [`snap ${metadata.uid}`]]);
    expect(ctx.recorded.map(({ reason }) => reason).filter((reason) => /Golden/.test(reason))).toEqual([
      'GoldenPreparing',
      'GoldenFailed',
      'StartedFromGolden',
    ]);
  });

  it('that had files of its own before keeps them', async () => {
    const { client, newController, look, driver, setNetwork } = setUp();
    const { metadata } = await client.create<Agent>(newAgent('one'));
    await setNetwork('True');
    await look(newController());
    await look(newController({ goldenOf: async () => golden(undefined) }));
    expect(driver.calls).toEqual([`create ${metadata.uid} run-1`]);
  });
});

const OF_ANN = { team: 'lab', agent: 'lab-ann' };
it.each<[what: string, golden: Golden, want: string | undefined]>([
  ['is not made yet', golden(undefined), 'GoldenPreparing'],
  ['is named and not there', golden(undefined, 'lab/ann'), 'SnapshotNotFound'],
  ['is prepared', golden(snapshot({ phase: 'Pending' })), 'GoldenPreparing'],
  ['cannot be read now', golden(snapshot({ phase: 'Pending', ...said('GoldenFailed', 'x') })), 'GoldenFailed'],
  ['has failed', golden(snapshot({ phase: 'Failed' })), 'GoldenFailed'],
  ['is another agent’s, and was not taken', golden(snapshot({ phase: 'Failed' }, OF_ANN), 'lab/ann'), 'SnapshotNotFound'],
  ['is another agent’s, and is taken', golden(snapshot({}, OF_ANN), 'lab/ann'), 'SnapshotPending'],
  ['is another driver’s', golden(snapshot({ phase: 'Ready', driver: 'vm' })), 'SnapshotUnusable'],
  ['needs the repository of another team', golden(snapshot({ ...READY, commit: 'c' }, OF_ANN), 'lab/ann'), 'SnapshotUnusable'],
  ['is another agent’s', golden(snapshot(READY, OF_ANN), 'lab/ann'), undefined],
  ['is there', golden(snapshot(READY)), undefined],
])('the golden snapshot %s', (_what, given, want) => {
  expect(goldenProblem(given, 'a', fakeDriver({ canRest: true }))?.reason).toBe(want);
});
