import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { UnavailableError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { type Box, boxFixture, boxKey, newBox } from './box.fixture.ts';
import { runSource } from './source.ts';
import { interceptClient, type Verb } from './testing.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface SetUp {
  readonly before?: (verb: Verb) => Promise<void> | void;
  readonly historyLimit?: number;
}

function setUp({ before = () => {}, historyLimit = 1_000 }: SetUp = {}) {
  const { client, store } = boxFixture({ historyLimit });
  const seen: string[] = [];
  const stop = new AbortController();
  const options = {
    client: interceptClient(client, before),
    kind: 'Box',
    log: silentLogger,
    resyncMs: 60_000,
    random: () => 1,
    onEvent: ({ type, object }: { type: string; object: { metadata: { name: string } } }) =>
      void seen.push(`${type} ${object.metadata.name}`),
  };
  const start = () => runSource(options, stop.signal);
  const settle = () => vi.advanceTimersByTimeAsync(0);
  const take = () => seen.splice(0);
  return { client, store, stop, start, settle, take };
}

it('tells what is there, then what happens, and ends with its signal', async () => {
  const { client, store, stop, start, settle, take } = setUp();
  await client.create(newBox('a'));
  const ended = start();
  await settle();
  await client.update({ ...(await client.get<Box>(boxKey('a'))), spec: { size: 2 } });
  await client.create(newBox('b'));
  await client.delete(boxKey('a'));
  await settle();
  expect(take()).toEqual(['ADDED a', 'MODIFIED a', 'ADDED b', 'DELETED a']);
  stop.abort();
  await ended;
  expect(store.watcherCount).toBe(0);
  expect(vi.getTimerCount()).toBe(0);
});

it('loses nothing when its version has expired: added, changed, deleted and made anew meanwhile', async () => {
  let meanwhile: (() => Promise<void>) | undefined;
  const { client, stop, start, settle, take } = setUp({
    historyLimit: 2,
    before: async (verb) => {
      if (verb !== 'watch' || !meanwhile) return;
      const work = meanwhile;
      meanwhile = undefined;
      await work();
    },
  });
  for (const name of ['same', 'changed', 'deleted', 'renewed']) await client.create(newBox(name));
  meanwhile = async () => {
    await client.update({ ...(await client.get<Box>(boxKey('changed'))), spec: { size: 2 } });
    await client.delete(boxKey('deleted'));
    await client.delete(boxKey('renewed'));
    await client.create(newBox('renewed'));
    await client.create(newBox('added'));
  };
  const ended = start();
  await settle();
  expect(take()).toEqual([
    ...['ADDED changed', 'ADDED deleted', 'ADDED renewed', 'ADDED same'],
    ...['DELETED deleted', 'ADDED added', 'MODIFIED changed', 'DELETED renewed', 'ADDED renewed'],
  ]);
  stop.abort();
  await ended;
});

it('backs off while list or watch fail, and goes on afterwards', async () => {
  let failing: Verb | undefined = 'list';
  let calls = 0;
  const before = (verb: Verb) => {
    if (verb !== failing) return;
    calls += 1;
    throw new UnavailableError('no answer');
  };
  const { client, stop, start, settle, take } = setUp({ before });
  await client.create(newBox('a'));
  const ended = start();
  await vi.advanceTimersByTimeAsync(5 + 10 + 20);
  expect(calls).toBe(4);
  failing = 'watch';
  await vi.advanceTimersByTimeAsync(40 + 80);
  expect(take()).toEqual(['ADDED a']);
  failing = undefined;
  await vi.advanceTimersByTimeAsync(160);
  await client.create(newBox('b'));
  await settle();
  expect(take()).toEqual(['ADDED b']);
  stop.abort();
  await ended;
});

it('tells everything again at every resync', async () => {
  const { client, stop, start, settle, take } = setUp();
  await client.create(newBox('a'));
  const ended = start();
  await settle();
  take();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(take()).toEqual(['SYNC a']);
  await client.create(newBox('b'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(take()).toEqual(['ADDED b', 'SYNC a', 'SYNC b']);
  stop.abort();
  await ended;
});
