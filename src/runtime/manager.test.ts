import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { StalledError, UnavailableError, WaitingError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { Metrics } from '#lib/metrics.ts';
import { type Box, type BoxFixture, boxFixture, boxKey, newBox } from './box.fixture.ts';
import { getCondition } from './conditions.ts';
import type { Controller, Key, Wake } from './controller.ts';
import { createLeaderLock } from './leader.ts';
import { createManager, type ManagerOptions } from './manager.ts';
import { ownedWatch, setControllerOwner } from './owner.ts';
import { interceptClient } from './testing.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const settle = () => vi.advanceTimersByTimeAsync(0);

function start({ client }: BoxFixture, options: Partial<ManagerOptions> & Pick<ManagerOptions, 'controllers'>) {
  const stop = new AbortController();
  const state = { ended: false };
  const manager = createManager({ client, log: silentLogger, random: () => 1, graceMs: 10_000, ...options });
  const ended = manager.start(stop.signal).finally(() => {
    state.ended = true;
  });
  const end = () => {
    stop.abort();
    return ended;
  };
  return { stop, state, end, ended };
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Passes of one controller, as they come. */
function recording(work: (box: Box, signal: AbortSignal) => Promise<void>): Controller<Box> & { readonly passes: string[] } {
  const passes: string[] = [];
  return {
    name: 'recording',
    kind: 'Box',
    passes,
    async reconcile(box, { signal }) {
      passes.push(box.metadata.name);
      await work(box, signal);
      return {};
    },
  };
}

describe('a running manager', () => {
  it('brings objects from creation to deletion, and leaves no timer and no watch behind', async () => {
    const fixture = boxFixture();
    const { client, world, store, get } = fixture;
    await client.create(newBox('early', 1));
    const { end } = start(fixture, { controllers: [fixture.controller] });
    await settle();
    await client.create(newBox('late', 2));
    await settle();
    expect([...world.boxes.values()]).toEqual([1, 2]);
    await client.delete(boxKey('early'));
    await settle();
    expect(get('early')).toBeUndefined();
    expect([...world.boxes.values()]).toEqual([2]);
    await end();
    expect(store.watcherCount).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('tells the owner of its children’s changes', async () => {
    const fixture = boxFixture();
    const { client } = fixture;
    const controller = { ...recording(async () => {}), watches: [ownedWatch('Lid')] };
    const owner = await client.create(newBox('owner'));
    await client.create(newBox('other'));
    const { end } = start(fixture, { controllers: [controller] });
    await settle();
    controller.passes.length = 0;
    const lid = { apiVersion: 'test/v1', kind: 'Lid', metadata: { name: 'lid', namespace: 'default' } };
    setControllerOwner(lid, owner);
    await client.create(lid);
    await settle();
    await client.delete({ kind: 'Lid', namespace: 'default', name: 'lid' });
    await settle();
    expect(controller.passes).toEqual(['owner', 'owner']);
    await end();
  });

  it('is woken from outside the API, and stops listening when it stops', async () => {
    const fixture = boxFixture();
    await fixture.client.create(newBox('a'));
    const listeners = new Set<(key: Key) => void>();
    const wake: Wake = (enqueue) => {
      listeners.add(enqueue);
      return () => listeners.delete(enqueue);
    };
    const controller = { ...recording(async () => {}), wakes: [wake] };
    const { end } = start(fixture, { controllers: [controller] });
    await settle();
    for (const enqueue of listeners) enqueue(boxKey('a'));
    await settle();
    expect(controller.passes).toEqual(['a', 'a']);
    await end();
    expect(listeners.size).toBe(0);
  });

  it('shares one watch per kind', async () => {
    const fixture = boxFixture();
    const controllers = ['a', 'b', 'c'].map((name) => ({ ...recording(async () => {}), name }));
    const { end } = start(fixture, { controllers, gcKinds: ['Box', 'Lid'] });
    await settle();
    expect(fixture.store.watcherCount).toBe(2);
    await end();
  });

  it('loses no change while its watch expires again and again', async () => {
    const fixture = boxFixture({ historyLimit: 1 });
    const { client, world } = fixture;
    // Every new watch finds its version expired, as long as there are changes to come.
    let left = 30;
    const racing = interceptClient(client, async (verb, kind) => {
      if (verb !== 'watch' || kind !== 'Box' || left === 0) return;
      left -= 1;
      await client.create(newBox(`box-${left}`));
      await client.create(newBox(`more-${left}`));
    });
    const { end } = start(fixture, { controllers: [fixture.controller], client: racing });
    await vi.advanceTimersByTimeAsync(599_000);
    expect(left).toBe(0);
    expect(world.boxes.size).toBe(60);
    await end();
  });

  it('looks at everything again at the resync', async () => {
    const fixture = boxFixture();
    await fixture.client.create(newBox('a'));
    const controller = recording(async () => {});
    const { end } = start(fixture, { controllers: [controller], resyncMs: 60_000 });
    await vi.advanceTimersByTimeAsync(180_000);
    expect(controller.passes).toHaveLength(4);
    await end();
  });

  it('runs sweeps at start and then every so often, also after a failure', async () => {
    const fixture = boxFixture();
    let rounds = 0;
    const sweep = {
      name: 'broom',
      everyMs: 1_000,
      async sweep() {
        rounds += 1;
        if (rounds === 2) throw new Error('dust');
      },
    };
    const metrics = new Metrics();
    const { end } = start(fixture, { controllers: [], sweeps: [sweep], metrics });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(rounds).toBe(4);
    expect(metrics.render()).toContain('agentiso_reconcile_errors_total{controller="broom"} 1\n');
    await end();
  });

  it('has as many sweeps and kinds as it likes wait for its end, and nobody warns of it', async () => {
    const warnings: string[] = [];
    const listen = ({ name, message }: Error) => void warnings.push(`${name}: ${message}`);
    process.on('warning', listen);
    const sweeps = Array.from({ length: 12 }, (_, index) => ({ name: `broom-${index}`, everyMs: 1_000, sweep: async () => undefined }));
    const { end } = start(boxFixture(), { controllers: [], sweeps });
    await vi.advanceTimersByTimeAsync(3_000);
    await end();
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });
});

describe('passes', () => {
  it('run ten keys at a time, and never two for one key', async () => {
    const fixture = boxFixture();
    const running = new Map<string, number>();
    let most = 0;
    let overlapped = false;
    const controller = recording(async ({ metadata: { name } }) => {
      running.set(name, (running.get(name) ?? 0) + 1);
      overlapped ||= running.get(name) !== 1;
      most = Math.max(most, [...running.values()].filter((count) => count > 0).length);
      await new Promise((resolve) => setTimeout(resolve, 100));
      running.set(name, 0);
    });
    for (let i = 0; i < 25; i++) await fixture.client.create(newBox(`box-${i}`));
    const { end } = start(fixture, { controllers: [controller] });
    for (let size = 2; size < 40; size++) {
      for (let i = 0; i < 25; i++) await fixture.client.update({ ...(await fixture.client.get<Box>(boxKey(`box-${i}`))), spec: { size } });
      await vi.advanceTimersByTimeAsync(30);
    }
    await vi.advanceTimersByTimeAsync(2_000);
    expect({ most, overlapped }).toEqual({ most: 10, overlapped: false });
    expect(new Set(controller.passes).size).toBe(25);
    await end();
  });

  it('of a failing key do not delay other keys, nor outrun their own back-off', async () => {
    const fixture = boxFixture();
    const { client, get } = fixture;
    let tries = 0;
    const controller = recording(async ({ metadata }) => {
      // A new message each time: every failure changes the status, which the watch then reports.
      if (metadata.name === 'bad') throw new UnavailableError(`try ${++tries}`);
    });
    const metrics = new Metrics();
    await client.create(newBox('bad'));
    const { end } = start(fixture, { controllers: [controller], metrics });
    await settle();
    expect(tries).toBe(1);
    await client.create(newBox('good'));
    await settle();
    expect(controller.passes).toEqual(['bad', 'good']);
    await vi.advanceTimersByTimeAsync(5 + 10 + 20 + 40 - 1);
    expect(tries).toBe(4);
    await vi.advanceTimersByTimeAsync(1);
    expect(tries).toBe(5);
    const bad = get('bad');
    expect(bad && getCondition(bad, 'Ready')?.message).toBe('try 5');
    expect(metrics.render()).toContain('agentiso_workqueue_retries_total{controller="recording"} 5\n');
    expect(metrics.render()).toContain('agentiso_reconcile_total{controller="recording",result="error"} 5\n');
    await end();
  });

  it('that succeed once start the back-off anew', async () => {
    const fixture = boxFixture();
    let tries = 0;
    const controller = recording(async () => {
      tries += 1;
      if (tries !== 6) throw new Error('no');
    });
    await fixture.client.create(newBox('a'));
    const { end } = start(fixture, { controllers: [controller] });
    await vi.advanceTimersByTimeAsync(5 + 10 + 20 + 40 + 80);
    expect(tries).toBe(6);
    await fixture.client.update({ ...(await fixture.client.get<Box>(boxKey('a'))), spec: { size: 2 } });
    await settle();
    expect(tries).toBe(7);
    await vi.advanceTimersByTimeAsync(5);
    expect(tries).toBe(8);
    await end();
  });

  it('of a failing key come at once when a person changes the object', async () => {
    const fixture = boxFixture();
    const { client } = fixture;
    const controller = recording(async (box) => {
      if (box.spec?.size !== 7) throw new Error(`not with ${box.spec?.size}`);
    });
    await client.create(newBox('a'));
    const { end } = start(fixture, { controllers: [controller] });
    await vi.advanceTimersByTimeAsync(60_000);
    const before = controller.passes.length;
    await client.update({ ...(await client.get<Box>(boxKey('a'))), spec: { size: 7 } });
    await settle();
    expect(controller.passes.length).toBe(before + 1);
    await end();
  });

  it('are not repeated when Stalled, and repeated in time when Waiting', async () => {
    const fixture = boxFixture();
    const { client } = fixture;
    const controller = recording(async ({ metadata }) => {
      if (metadata.name === 'stalled') throw new StalledError('BadSize', 'a person must act');
      throw new WaitingError('Booting', 'soon', 1_000);
    });
    await client.create(newBox('stalled'));
    await client.create(newBox('waiting'));
    const { end } = start(fixture, { controllers: [controller] });
    await vi.advanceTimersByTimeAsync(3_500);
    expect(controller.passes.filter((name) => name === 'stalled')).toHaveLength(1);
    expect(controller.passes.filter((name) => name === 'waiting')).toHaveLength(4);
    await end();
  });

  it('that a change overtakes are followed by another one', async () => {
    const fixture = boxFixture();
    const { client } = fixture;
    const gate = deferred();
    const sizes: (number | undefined)[] = [];
    const controller = recording(async (box) => {
      sizes.push(box.spec?.size);
      await gate.promise;
    });
    await client.create(newBox('a', 1));
    const { end } = start(fixture, { controllers: [controller] });
    await settle();
    await client.update({ ...(await client.get<Box>(boxKey('a'))), spec: { size: 2 } });
    await settle();
    expect(sizes).toEqual([1]);
    gate.resolve();
    await settle();
    expect(sizes).toEqual([1, 2]);
    await end();
  });

  it('whose status write meets another write are repeated without noise', async () => {
    const fixture = boxFixture();
    const { client, get, controller } = fixture;
    let raced = false;
    const racing = interceptClient(client, async (verb, object) => {
      if (verb !== 'updateStatus' || raced) return;
      raced = true;
      const current = await client.get<Box>(boxKey((object as KindObject).metadata.name));
      await client.update({ ...current, spec: { size: 5 } });
    });
    const metrics = new Metrics();
    await client.create(newBox('a', 1));
    const { end } = start(fixture, { controllers: [controller], client: racing, metrics });
    await vi.advanceTimersByTimeAsync(100);
    expect(get('a')?.status?.size).toBe(5);
    expect(metrics.render()).toContain('result="conflict"} 1\n');
    expect(metrics.render()).not.toContain('result="error"');
    expect(fixture.store.count('Event')).toBe(0);
    await end();
  });
});

describe('what a controller hears of', () => {
  const change = async ({ client, get }: BoxFixture, name: string, size: number) => {
    await client.update({ ...(get(name) as Box), spec: { size } });
    await settle();
  };

  it('brings no pass for an object that is at rest, until something is wanted of it, it goes, or everything is looked at', async () => {
    const fixture = boxFixture();
    const { client } = fixture;
    const controller = { ...recording(async () => {}), isAtRest: (box: Box) => box.spec?.size === 0 };
    await client.create(newBox('resting', 0));
    await client.create(newBox('busy', 1));
    const { end } = start(fixture, { controllers: [controller as Controller], resyncMs: 60_000 });
    await settle();
    expect(controller.passes.splice(0)).toEqual(['busy']);
    await change(fixture, 'resting', 2);
    await change(fixture, 'resting', 0);
    expect(controller.passes.splice(0)).toEqual(['resting']);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(controller.passes.splice(0).sort()).toEqual(['busy', 'resting']);
    await end();
  });

  it('of its own writes brings no pass where it says so, of those of others it does', async () => {
    const fixture = boxFixture();
    const passes: number[] = [];
    const controller: Controller<Box> = {
      name: 'own',
      kind: 'Box',
      ignoresOwnWrites: true,
      async reconcile(box) {
        passes.push(box.spec?.size ?? 0);
        box.status.size = box.spec?.size ?? 0;
        return {};
      },
    };
    const { end } = start(fixture, { controllers: [controller as Controller] });
    await fixture.client.create(newBox('a', 1));
    await settle();
    expect([passes.splice(0), fixture.get('a')?.status?.size]).toEqual([[1], 1]);
    await change(fixture, 'a', 2);
    expect(passes.splice(0)).toEqual([2]);
    await fixture.client.updateStatus({ ...(fixture.get('a') as Box), status: { size: 77 } });
    await settle();
    expect([passes.splice(0), fixture.get('a')?.status?.size]).toEqual([[2], 2]);
    await end();
  });

  it('of its own writes brings no pass after one that left nothing to do, and one after others', async () => {
    const fixture = boxFixture();
    const passes: number[] = [];
    const controller: Controller<Box> = {
      name: 'own',
      kind: 'Box',
      async reconcile(box) {
        const size = box.spec?.size ?? 0;
        passes.push(size);
        box.status.size = size;
        return { leavesNothing: size > 1 };
      },
    };
    const { end } = start(fixture, { controllers: [controller as Controller] });
    await fixture.client.create(newBox('a', 1));
    await settle();
    expect(passes.splice(0)).toEqual([1, 1]);
    await change(fixture, 'a', 2);
    expect([passes.splice(0), fixture.get('a')?.status?.size]).toEqual([[2], 2]);
    await end();
  });

  it('tells its watches what was known before, and is spaced where there is no end of it', async () => {
    const fixture = boxFixture();
    const { client } = fixture;
    const heard: string[] = [];
    const spaced: Controller<Box> & { readonly passes: string[] } = recording(async () => {});
    const controller: Controller<Box> = {
      ...spaced,
      watches: [
        {
          kind: 'Lid',
          spacingMs: 1_000,
          toKeys(lid, type, before) {
            heard.push(`${type} ${(before as Box | undefined)?.spec?.size ?? 'unknown'} ${(lid as Box).spec?.size}`);
            return [boxKey('a')];
          },
        },
      ],
    };
    await client.create(newBox('a', 1));
    const { end } = start(fixture, { controllers: [controller as Controller] });
    await vi.advanceTimersByTimeAsync(5_000);
    spaced.passes.length = 0;
    const lid = await client.create({ ...newBox('lid', 1), kind: 'Lid' } as never);
    await settle();
    expect(spaced.passes.splice(0)).toEqual(['a']);
    await client.update({ ...(lid as Box), spec: { size: 2 } });
    await vi.advanceTimersByTimeAsync(900);
    expect(spaced.passes).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(spaced.passes).toEqual(['a']);
    expect(heard).toEqual(['ADDED unknown 1', 'MODIFIED 1 2']);
    await end();
  });
});

describe('a stop', () => {
  it('waits for the running pass and starts no other', async () => {
    const fixture = boxFixture();
    const gate = deferred();
    const signals: AbortSignal[] = [];
    const controller = {
      ...recording(async (_box, signal) => {
        signals.push(signal);
        await gate.promise;
      }),
      concurrency: 1,
    };
    for (const name of ['a', 'b']) await fixture.client.create(newBox(name));
    const { stop, state, ended } = start(fixture, { controllers: [controller] });
    await settle();
    stop.abort();
    await vi.advanceTimersByTimeAsync(9_000);
    expect(state.ended).toBe(false);
    expect(signals[0]?.aborted).toBe(false);
    gate.resolve();
    await ended;
    expect(controller.passes).toEqual(['a']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('aborts the signal of a pass when the grace is over', async () => {
    const fixture = boxFixture();
    const controller = recording(
      (_box, signal) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    await fixture.client.create(newBox('a'));
    const { stop, state, ended } = start(fixture, { controllers: [controller] });
    await settle();
    stop.abort();
    await vi.advanceTimersByTimeAsync(9_999);
    expect(state.ended).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(fixture.get('a')?.status).toBeUndefined();
  });

  it('comes to an end although a pass does not', async () => {
    const fixture = boxFixture();
    await fixture.client.create(newBox('a'));
    const { stop, ended } = start(fixture, { controllers: [recording(() => new Promise(() => {}))] });
    await settle();
    stop.abort();
    await vi.advanceTimersByTimeAsync(15_000);
    await ended;
  });

  it('writes the events that were recorded', async () => {
    const fixture = boxFixture();
    await fixture.client.create(newBox('a'));
    const controller = recording(async () => {
      throw new StalledError('BadSize', 'no');
    });
    const gate = deferred();
    const client = interceptClient(fixture.client, (verb) => (verb === 'create' ? gate.promise : undefined));
    const { end, state } = start(fixture, { controllers: [controller], client });
    await settle();
    const ended = end();
    await settle();
    expect(state.ended).toBe(false);
    gate.resolve();
    await ended;
    expect(fixture.store.list('Event').items).toMatchObject([{ reason: 'BadSize', reportingComponent: 'recording', count: 1 }]);
  });
});

describe('with a leader lock', () => {
  const lockOf = ({ client }: BoxFixture, identity: string) =>
    createLeaderLock({ client, log: silentLogger, identity, name: 'lock', namespace: 'default', leaseDurationSeconds: 15 });

  it('works only while it leads, and hands over when it stops', async () => {
    const fixture = boxFixture();
    await fixture.client.create(newBox('a'));
    const [first, second] = [recording(async () => {}), recording(async () => {})];
    const a = start(fixture, { controllers: [first], leader: lockOf(fixture, 'a') });
    await settle();
    const b = start(fixture, { controllers: [second], leader: lockOf(fixture, 'b') });
    await vi.advanceTimersByTimeAsync(60_000);
    expect([first.passes, second.passes]).toEqual([['a'], []]);
    await a.end();
    await settle();
    expect(second.passes).toEqual(['a']);
    await b.end();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('stops its passes at once when it is lost, and leads again later', async () => {
    const fixture = boxFixture();
    const { client } = fixture;
    await client.create(newBox('a'));
    const aborts: string[] = [];
    const controller = recording(
      ({ metadata }, signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            aborts.push(metadata.name);
            resolve();
          }),
        ),
    );
    const { end } = start(fixture, { controllers: [controller], leader: lockOf(fixture, 'a') });
    await settle();
    const lease = await client.get<KindObject<object>>({ kind: 'Lease', namespace: 'default', name: 'lock' });
    await client.update({ ...lease, spec: { ...lease.spec, holderIdentity: 'intruder' } });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(aborts).toEqual(['a']);
    await vi.advanceTimersByTimeAsync(16_000);
    expect(controller.passes).toEqual(['a', 'a']);
    const ended = end();
    await vi.advanceTimersByTimeAsync(10_000);
    await ended;
  });
});
