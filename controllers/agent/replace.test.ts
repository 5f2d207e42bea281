import { describe, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { conditionOf, newAgent } from '../../test/support/controllers.ts';
import { fakeDriver } from '../../test/support/fake-driver.ts';
import { running, setUp } from './agent.fixture.ts';

async function changed(spec: object, tasks: { count: number } = { count: 0 }) {
  const world = await running({}, { resources: { memoryMiB: 256 } });
  const other = fakeDriver({ name: 'sandbox', isolation: { driver: 'sandbox', network: 'proxy-only', limits: 'none' } });
  const controller = world.newController({
    pulledTasks: () => tasks.count,
    driverFor: ({ spec: { isolation } }) => (isolation?.driver === 'sandbox' ? other : world.driver),
  });
  world.sessions.beat(world.id);
  const now = world.agent() as Agent;
  await world.client.update<Agent>({ ...now, spec: { ...now.spec, ...spec } as Agent['spec'] });
  /** As the runtime does it: until nothing is due within a second. */
  const settle = async () => {
    for (let pass = 0; pass < 10; pass++) {
      await world.look(controller).catch(() => undefined);
      world.pass(250);
    }
  };
  return { ...world, other, controller, settle, look: () => world.look(controller) };
}

const MORE = { resources: { memoryMiB: 512 } };

describe('a run that is not what the spec asks for', () => {
  it('is replaced by another on the same disk, and counts as no failure', async () => {
    const { agent, driver, id, settle, ctx } = await changed(MORE);
    expect(agent()?.status).toMatchObject({ incarnation: 'run-1', startedWith: { image: 'base', memoryMiB: 256 } });
    await settle();
    expect(driver.calls).toEqual([`create ${id} run-1`, `stop ${id}`, `stop ${id}`, `create ${id} run-2`]);
    expect(agent()?.status).toMatchObject({ phase: 'Ready', incarnation: 'run-2', startedWith: { memoryMiB: 512 } });
    expect(agent()?.status?.restarts).toBeUndefined();
    expect(conditionOf(agent(), 'ReplacePending')).toBeUndefined();
    expect(ctx.recorded.map(({ reason }) => reason)).toEqual(['ReplacePending']);
  });

  it('goes on while it holds a task, says so, and ends when it holds none', async () => {
    const tasks = { count: 1 };
    const { agent, driver, id, settle } = await changed(MORE, tasks);
    await settle();
    expect(driver.calls).toEqual([`create ${id} run-1`]);
    expect(conditionOf(agent(), 'ReplacePending')).toBe(
      'True TaskRunning: the spec asks for memoryMiB 512 instead of 256; another run begins when it holds no Task',
    );
    expect(conditionOf(agent(), 'Ready')).toBe('True Running: ');
    tasks.count = 0;
    await settle();
    expect(agent()?.status).toMatchObject({ phase: 'Ready', incarnation: 'run-2' });
  });

  it('waits a moment before it ends, for a task that is just being handed to it', async () => {
    const { look, driver, id } = await changed(MORE);
    expect(await look()).toEqual({ requeueAfterMs: 500 });
    expect(await look()).toEqual({ requeueAfterMs: 500 });
    expect(driver.calls).toEqual([`create ${id} run-1`]);
  });

  it('stays where it is until then when the driver is another, too', async () => {
    const tasks = { count: 1 };
    const { agent, driver, other, id, settle } = await changed({ isolation: { driver: 'sandbox' } }, tasks);
    await settle();
    expect([driver.calls, other.calls]).toEqual([[`create ${id} run-1`], []]);
    expect(agent()?.status?.isolation?.driver).toBe('process');
    tasks.count = 0;
    await settle();
    expect(other.calls).toEqual([`create ${id} run-2`]);
    expect(driver.workspaces.get(id)?.phase).toBe('exited');
    expect(agent()?.status).toMatchObject({ phase: 'Ready', isolation: { driver: 'sandbox' } });
  });

  it('is let alone when the spec is as it was', async () => {
    const tasks = { count: 1 };
    const { agent, client, settle, driver } = await changed(MORE, tasks);
    await settle();
    const now = agent() as Agent;
    await client.update<Agent>({ ...now, spec: { ...now.spec, resources: { ...now.spec.resources, memoryMiB: 256 } as never } });
    tasks.count = 0;
    await settle();
    expect([agent()?.status?.incarnation, conditionOf(agent(), 'ReplacePending'), driver.calls.length]).toEqual(['run-1', undefined, 1]);
  });
});

it('what a run was started with is not lost to somebody who writes while it is started', async () => {
  const { client, look, agent, setNetwork, newController, driver, ctx } = setUp();
  await client.create<Agent>(newAgent('one', { resources: { memoryMiB: 256 } }));
  await setNetwork('True');
  // While the first pass starts it, the network's controller writes: what that pass knows does not get into the status.
  let isFirst = true;
  const controller = newController({
    async placeOf() {
      if (isFirst) await setNetwork('True', 'Enforced');
      isFirst = false;
      return { team: 1, egress: false };
    },
  });
  await look(controller);
  expect(agent()?.status?.incarnation).toBeUndefined();
  await look(controller);
  expect(agent()?.status).toMatchObject({
    incarnation: 'run-1',
    startedAt: '2026-01-02T03:04:05.000Z',
    startedWith: { image: 'base', memoryMiB: 256 },
  });
  expect((await driver.get(agent()?.metadata.uid ?? '', ctx.signal))?.incarnation).toBe('run-1');
});
