import { describe, expect, it } from 'vitest';
import { ConflictError } from '#lib/errors.ts';
import { conditionOf } from '../../test/support/controllers.ts';
import { running } from './agent.fixture.ts';
import type { PlanPhase } from './deps.ts';

async function planning(canHold = true) {
  const world = await running({ canHold });
  let plan: PlanPhase | undefined = { task: 'x', isShared: false };
  const controller = world.newController({ planOf: () => plan });
  world.sessions.beat(world.id);
  const begin = world.driver.calls.length;
  const settle = async () => {
    for (let pass = 0; pass < 4; pass++) {
      await world.look(controller);
      world.pass(300);
    }
  };
  return {
    ...world,
    settle,
    hold: () => conditionOf(world.agent(), 'PlanHold'),
    calls: () => world.driver.calls.slice(begin).map((call) => call.split(' ')[0]),
    now: (next: PlanPhase | undefined) => {
      plan = next;
    },
    look: () => world.look(controller),
  };
}

describe('an agent whose plan is not approved', () => {
  it('is marked first, held when what was being handed to it shows, and let go when it may begin', async () => {
    const { look, settle, hold, calls, now, pass } = await planning();
    await look();
    expect([hold(), calls()]).toEqual(['Unknown Holding: its workspace is read-only until the plan of task x is approved', []]);
    pass(100);
    await look();
    expect(calls()).toEqual([]);
    await settle();
    expect(hold()).toBe('True PlanPhase: its workspace is read-only until the plan of task x is approved');
    expect(new Set(calls())).toEqual(new Set(['hold']));
    now(undefined);
    await look();
    expect([hold(), calls().at(-1)]).toEqual([undefined, 'release']);
    const before = calls().length;
    await settle();
    expect(calls()).toHaveLength(before);
  });

  it('is let go when another task of it may begin, and held again after that', async () => {
    const { look, settle, hold, calls, now } = await planning();
    await settle();
    now({ task: 'x', isShared: true });
    await look();
    expect([hold(), calls().at(-1)]).toEqual([
      'False SharedWorkspace: nothing keeps it from writing before the plan of task x is approved: it works on another Task, in the same files',
      'release',
    ]);
    now({ task: 'x', isShared: false });
    await settle();
    expect(hold()).toMatch(/^True PlanPhase/);
  });

  it('is not held while it writes, and tried again', async () => {
    const { settle, hold, driver, look, pass } = await planning();
    await look();
    pass(600);
    driver.holdFailures.push(new ConflictError('busy'));
    await look();
    expect(hold()).toBe('Unknown FilesOpen: nothing keeps it from writing yet: a file of its workspace is open for writing');
    await settle();
    expect(hold()).toMatch(/^True PlanPhase/);
  });

  it('is not held where the driver cannot do it', async () => {
    const { settle, hold, calls } = await planning(false);
    await settle();
    expect([hold(), calls()]).toEqual([expect.stringMatching(/^False Unsupported: .*the process driver cannot do that here$/), []]);
  });
});
