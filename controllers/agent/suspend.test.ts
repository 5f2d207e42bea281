import { describe, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { AgentisoError } from '#lib/errors.ts';
import { conditionOf } from '../../test/support/controllers.ts';
import { running } from './agent.fixture.ts';

async function suspended({ canRest = true, tasks = { count: 0 } } = {}) {
  const world = await running({ canRest });
  const linkOf = async ({ metadata }: Agent) => ({ network: `link-of-${metadata.name}` });
  const controller = world.newController({ pulledTasks: () => tasks.count, linkOf });
  world.sessions.beat(world.id);
  const want = async (desiredState: Agent['spec']['desiredState']) => {
    const now = world.agent() as Agent;
    await world.client.update<Agent>({ ...now, spec: { ...now.spec, desiredState } });
  };
  const settle = async (using = controller) => {
    for (let pass = 0; pass < 6; pass++) {
      await world.look(using).catch(() => undefined);
      world.pass(250);
    }
  };
  await want('Suspended');
  return { ...world, want, settle };
}

describe('an agent that is to rest', () => {
  it('is held still, is not taken for dead, and goes on as the same run', async () => {
    const { agent, driver, id, settle, want, pass, sessions } = await suspended();
    await settle();
    expect(agent()?.status).toMatchObject({ phase: 'Suspended', incarnation: 'run-1' });
    expect(conditionOf(agent(), 'Ready')).toBe(
      'False Suspended: spec.desiredState is Suspended; its memory stays in the memory of this machine',
    );
    expect(sessions.get(id)).toBeUndefined();
    pass(3_600_000);
    await settle();
    await want('Running');
    await settle();
    expect(driver.calls).toEqual([`create ${id} run-1`, `suspend ${id}`, `resume ${id}`]);
    expect(agent()?.status).toMatchObject({ phase: 'Ready', incarnation: 'run-1' });
    expect(agent()?.status?.restarts).toBeUndefined();
  });

  it('says where its memory is when nothing of it runs, and comes back to its place on the network', async () => {
    const { agent, driver, id, settle, want } = await suspended();
    driver.savedBytes = 3 * 1024 ** 2;
    await settle();
    expect(conditionOf(agent(), 'Ready')).toBe(
      `False Suspended: spec.desiredState is Suspended; nothing of it runs, its memory is on disk (3 MiB, /saved/${id})`,
    );
    expect(agent()?.status?.pid).toBeUndefined();
    await want('Running');
    await settle();
    expect(driver.calls.at(-1)).toBe(`resume ${id} at link-of-one`);
    expect(agent()?.status).toMatchObject({ phase: 'Ready', incarnation: 'run-1', pid: expect.any(Number) });
  });

  it('goes on where there is no room for what is in its memory, and says so', async () => {
    const { agent, driver, id, settle } = await suspended();
    const problem = new AgentisoError('QuotaExceeded', 'the disk is full');
    driver.suspendFailure = problem;
    await settle();
    expect(conditionOf(agent(), 'SuspendPending')).toBe('True QuotaExceeded: it goes on: the disk is full');
    expect([agent()?.status?.phase, driver.calls.includes(`suspend ${id}`)]).toEqual(['Ready', false]);
    driver.suspendFailure = undefined;
    await settle();
    expect(agent()?.status?.phase).toBe('Suspended');
  });

  it('goes on while it holds a task, and says so', async () => {
    const tasks = { count: 1 };
    const { agent, driver, settle } = await suspended({ tasks });
    await settle();
    expect(conditionOf(agent(), 'SuspendPending')).toBe('True TaskRunning: it is held still when it has no Task');
    expect([conditionOf(agent(), 'Ready'), driver.calls.length]).toEqual(['True Running: ', 1]);
    tasks.count = 0;
    await settle();
    expect(agent()?.status?.phase).toBe('Suspended');
    expect(conditionOf(agent(), 'SuspendPending')).toBeUndefined();
  });

  it('runs on where it cannot be held, which is said', async () => {
    const { agent, settle } = await suspended({ canRest: false });
    await settle();
    expect(conditionOf(agent(), 'SuspendPending')).toMatch(/^True SuspendUnsupported: the process driver cannot hold an agent still here/);
    expect(conditionOf(agent(), 'Ready')).toBe('True Running: ');
  });

  it('is left alone when the wish is taken back in time', async () => {
    const { agent, settle, want, look, driver } = await suspended();
    await look();
    await want('Running');
    await settle();
    expect([driver.calls.length, conditionOf(agent(), 'SuspendPending')]).toEqual([1, undefined]);
  });

  it('starts anew when nothing was left of it to resume', async () => {
    const { agent, driver, id, settle, want } = await suspended();
    await settle();
    driver.exit(id, 'the machine was restarted');
    await settle();
    expect(agent()?.status?.phase).toBe('Suspended');
    await want('Running');
    await settle();
    expect(agent()?.status).toMatchObject({ phase: 'Ready', incarnation: 'run-2' });
    expect(agent()?.status?.restarts).toBeUndefined();
  });

  it('ends when it is to stop', async () => {
    const { agent, settle, want } = await suspended();
    await settle();
    await want('Stopped');
    await settle();
    expect(agent()?.status?.phase).toBe('Stopped');
  });
});
