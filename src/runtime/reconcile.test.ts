import { describe, expect, it } from 'vitest';
import { ConflictError, StalledError, UnavailableError, WaitingError } from '#lib/errors.ts';
import { BOX_FINALIZER, type Box, boxFixture, boxKey, newBox } from './box.fixture.ts';
import { getCondition } from './conditions.ts';
import type { Controller } from './controller.ts';
import { reconcileKey, runPass } from './reconcile.ts';
import { interceptClient, testContext } from './testing.ts';

function setUp() {
  const fixture = boxFixture();
  const ctx = testContext({ now: () => new Date('2026-01-02T03:04:05Z') });
  const pass = (controller: Controller = fixture.controller, client = fixture.client) => reconcileKey(controller, boxKey('a'), client, ctx);
  return { ...fixture, ctx, pass };
}

describe('the five standard cases', () => {
  it('converges from empty', async () => {
    const { client, world, pass, get } = setUp();
    const { metadata } = await client.create(newBox('a', 3));
    expect(await pass()).toEqual({});
    expect(world.boxes).toEqual(new Map([[metadata.uid, 3]]));
    expect(get('a')).toMatchObject({ metadata: { finalizers: [BOX_FINALIZER] }, status: { size: 3 } });
    expect(get('a')?.status?.conditions).toEqual([
      { type: 'Ready', status: 'True', reason: 'Made', message: '', lastTransitionTime: '2026-01-02T03:04:05Z', observedGeneration: 1 },
    ]);
  });

  it('changes nothing on the second pass', async () => {
    const { client, pass, get, ctx } = setUp();
    await client.create(newBox('a'));
    await pass();
    const version = get('a')?.metadata.resourceVersion;
    const outcome = await runPass(boxFixture().controller, boxKey('a'), client, { ...ctx, now: () => new Date('2027-01-01T00:00:00Z') });
    expect(outcome).toEqual({ result: 'success', written: [] });
    expect(get('a')?.metadata.resourceVersion).toBe(version);
  });

  it('follows a changed spec', async () => {
    const { client, world, pass, get } = setUp();
    await client.create(newBox('a', 1));
    await pass();
    await client.update({ ...(await client.get<Box>(boxKey('a'))), spec: { size: 9 } });
    await pass();
    expect([...world.boxes.values()]).toEqual([9]);
    expect(get('a')?.status?.conditions?.[0]?.observedGeneration).toBe(2);
  });

  it('reports a failure on the object, throws it for back-off, and recovers', async () => {
    const { client, world, pass, get, ctx } = setUp();
    const object = await client.create(newBox('a'));
    world.refusals.push(new UnavailableError('no room', { reason: 'NoRoom' }), new Error('still none'));
    await expect(pass()).rejects.toThrow('no room');
    expect(getCondition(get('a') ?? object, 'Ready')).toMatchObject({ status: 'False', reason: 'NoRoom', message: 'no room' });
    await expect(pass()).rejects.toThrow('still none');
    expect(getCondition(get('a') ?? object, 'Ready')).toMatchObject({ status: 'False', reason: 'ReconcileFailed', message: 'still none' });
    await pass();
    expect(getCondition(get('a') ?? object, 'Ready')).toMatchObject({ status: 'True' });
    expect(ctx.recorded.map(({ reason }) => reason)).toEqual(['NoRoom', 'ReconcileFailed']);
  });

  it('keeps the finalizer while finalize fails or is not done, and drops it when it is', async () => {
    const { client, world, controller, pass, get } = setUp();
    const object = await client.create(newBox('a'));
    await pass();
    await client.delete(boxKey('a'));
    world.refusals.push(new UnavailableError('stuck', { reason: 'Stuck' }));
    await expect(pass()).rejects.toThrow('stuck');
    expect(get('a')?.metadata.finalizers).toEqual([BOX_FINALIZER]);
    expect(getCondition(get('a') ?? object, 'Ready')).toMatchObject({ status: 'False', reason: 'Stuck' });
    expect(await pass({ ...controller, finalize: async () => ({ requeueAfterMs: 7 }) })).toEqual({ requeueAfterMs: 7 });
    expect(get('a')?.metadata.finalizers).toEqual([BOX_FINALIZER]);
    expect(await pass()).toEqual({});
    expect(get('a')).toBeUndefined();
    expect(world.boxes.size).toBe(0);
  });
});

describe('the finalizer', () => {
  it('is persisted before any side effect', async () => {
    const { client, world, controller, pass } = setUp();
    await client.create(newBox('a'));
    const failing = interceptClient(client, (verb) => {
      if (verb === 'update') throw new UnavailableError('disk full');
    });
    await expect(pass(controller, failing)).rejects.toThrow('disk full');
    expect(world.touches).toBe(0);
  });

  it('is already stored when the controller runs', async () => {
    const { client, controller, pass, get } = setUp();
    await client.create(newBox('a'));
    let seen: string[] | undefined;
    await pass({
      ...controller,
      async reconcile() {
        seen = get('a')?.metadata.finalizers;
        return {};
      },
    });
    expect(seen).toEqual([BOX_FINALIZER]);
  });

  it('of others is left alone', async () => {
    const { client, pass, get } = setUp();
    const draft = newBox('a');
    await client.create({ ...draft, metadata: { ...draft.metadata, finalizers: ['other/one'] } });
    await pass();
    await client.delete(boxKey('a'));
    await pass();
    expect(get('a')?.metadata.finalizers).toEqual(['other/one']);
  });
});

it('does nothing for an absent object', async () => {
  const { pass, world } = setUp();
  expect(await pass()).toEqual({});
  expect(world.touches).toBe(0);
});

it('does not reconcile an object that is being deleted when it has no finalizer of ours', async () => {
  const { client, pass, world, controller } = setUp();
  const draft = newBox('a');
  await client.create({ ...draft, metadata: { ...draft.metadata, finalizers: ['other/one'] } });
  await client.delete(boxKey('a'));
  const { finalizer: _finalizer, ...plain } = controller;
  await pass(plain);
  await pass();
  expect(world.touches).toBe(0);
});

describe('the status write', () => {
  it('that meets somebody else’s write is retried quietly and hides nothing', async () => {
    const { client, controller, ctx, world } = setUp();
    await client.create(newBox('a'));
    const racing = interceptClient(client, (verb) => {
      if (verb === 'updateStatus') throw new ConflictError('changed');
    });
    expect(await runPass(controller, boxKey('a'), racing, ctx)).toMatchObject({ result: 'conflict' });
    expect(await reconcileKey(controller, boxKey('a'), racing, ctx)).toEqual({ requeueAfterMs: 5 });
    expect(ctx.recorded).toEqual([]);
    world.refusals.push(new Error('the real reason'));
    await expect(reconcileKey(controller, boxKey('a'), racing, ctx)).rejects.toThrow('the real reason');
    world.refusals.push(new StalledError('BadSize', 'no'));
    expect(await runPass(controller, boxKey('a'), racing, ctx)).toMatchObject({ result: 'conflict' });
  });

  it('is one per pass, and nothing at all goes out when the object vanished', async () => {
    const { client, controller, ctx } = setUp();
    await client.create(newBox('a'));
    let writes = 0;
    const counting = interceptClient(client, async (verb) => {
      if (verb !== 'updateStatus') return;
      writes += 1;
      const { metadata } = await client.get<Box>(boxKey('a'));
      await client.delete(boxKey('a'));
      await client.update({ ...(await client.get<Box>(boxKey('a'))), metadata: { ...metadata, resourceVersion: '3', finalizers: [] } });
    });
    expect(await runPass(controller, boxKey('a'), counting, ctx)).toMatchObject({ result: 'success' });
    expect(writes).toBe(1);
  });
});

describe('what a controller throws', () => {
  it('Stalled: on the object, not retried', async () => {
    const { client, world, pass, ctx, get } = setUp();
    const object = await client.create(newBox('a'));
    world.refusals.push(new StalledError('BadSize', 'a person must act'));
    expect(await pass()).toEqual({});
    expect(getCondition(get('a') ?? object, 'Ready')).toMatchObject({ status: 'False', reason: 'BadSize', message: 'a person must act' });
    expect(ctx.recorded).toEqual([{ type: 'Warning', object: 'a', reason: 'BadSize', message: 'a person must act' }]);
  });

  it('Waiting: looked at again after its time, and no event', async () => {
    const { client, world, pass, ctx } = setUp();
    await client.create(newBox('a'));
    world.refusals.push(new WaitingError('Booting', 'soon', 250));
    expect(await pass()).toEqual({ requeueAfterMs: 250 });
    expect(ctx.recorded).toEqual([]);
  });

  it('twice the same is one event', async () => {
    const { client, world, pass, ctx } = setUp();
    await client.create(newBox('a'));
    world.refusals.push(new Error('same'), new Error('same'));
    await expect(pass()).rejects.toThrow('same');
    await expect(pass()).rejects.toThrow('same');
    expect(ctx.recorded).toHaveLength(1);
  });

  it('because the process stops says nothing about the object', async () => {
    const { client, world, controller, get } = setUp();
    await client.create(newBox('a'));
    world.refusals.push(new Error('aborted'));
    const ctx = testContext({ signal: AbortSignal.abort() });
    await expect(reconcileKey(controller, boxKey('a'), client, ctx)).rejects.toThrow('aborted');
    expect(get('a')?.status).toBeUndefined();
  });

  it('goes to an event alone on a kind without conditions', async () => {
    const { client, world, controller, pass, ctx, get } = setUp();
    await client.create(newBox('a'));
    world.refusals.push(new Error('no'));
    await expect(pass({ ...controller, failureCondition: false })).rejects.toThrow('no');
    expect(get('a')?.status).toBeUndefined();
    expect(ctx.recorded).toHaveLength(1);
  });
});

it('refuses a controller that changes more than the status, and stores nothing of it', async () => {
  const { client, controller, pass, get } = setUp();
  const object = await client.create(newBox('a', 1));
  const meddling: Controller<Box> = {
    ...controller,
    async reconcile(box) {
      box.spec = { size: 99 };
      return {};
    },
  };
  await expect(pass(meddling)).rejects.toThrow('changed more than the status');
  expect(get('a')?.spec).toEqual({ size: 1 });
  expect(getCondition(get('a') ?? object, 'Ready')).toMatchObject({ status: 'False', reason: 'ProgrammerError' });
});
