import { describe, expect, it } from 'vitest';
import type { Draft, KindObject } from '#api/meta.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import { localClient } from './local.ts';

const newBox = (name: string): Draft => ({
  apiVersion: 'test/v1',
  kind: 'Box',
  metadata: { name, namespace: 'default' },
  spec: { size: 1 },
});
const key = (name: string) => ({ kind: 'Box', namespace: 'default', name });

function setUp(historyLimit = 100) {
  const store = memoryStore({ kinds: ['Box'], historyLimit });
  const stop = new AbortController();
  return { store, client: localClient(store), stop };
}

describe('get and delete', () => {
  it('say which object there is none of', async () => {
    const { client } = setUp();
    await expect(client.get(key('a'))).rejects.toMatchObject({ code: 'NotFound', message: 'Box default/a not found' });
    await expect(client.delete(key('a'))).rejects.toMatchObject({ code: 'NotFound' });
  });
});

describe('updateStatus', () => {
  it('writes the status and nothing else', async () => {
    const { client } = setUp();
    const object = await client.create(newBox('a'));
    const stored = await client.updateStatus({ ...object, spec: { size: 9 }, status: { seen: 1 } });
    expect([stored.spec, stored.status]).toEqual([{ size: 1 }, { seen: 1 }]);
  });
});

describe('watch', () => {
  it('gives what is there, then what happens, in order, and ends when it is told to', async () => {
    const { client, stop, store } = setUp();
    await client.create(newBox('a'));
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { type, object } of client.watch('Box', { signal: stop.signal })) {
        seen.push(`${type} ${object.metadata.name}`);
        if (type === 'DELETED') stop.abort();
      }
    })();
    await client.create(newBox('b'));
    await client.delete(key('a'));
    await watching;
    expect(seen).toEqual(['ADDED a', 'ADDED b', 'DELETED a']);
    expect(store.watcherCount).toBe(0);
  });

  it('goes on from the version of a list without a gap', async () => {
    const { client, stop } = setUp();
    await client.create(newBox('a'));
    const { items, resourceVersion } = await client.list('Box');
    await client.create(newBox('b'));
    const iterator = client.watch<KindObject>('Box', { resourceVersion, signal: stop.signal })[Symbol.asyncIterator]();
    expect(items).toHaveLength(1);
    expect((await iterator.next()).value?.object.metadata.name).toBe('b');
    await iterator.return?.();
  });

  it('throws when the version is too old, and gives nothing when it is over before it begins', async () => {
    const { client, stop } = setUp(1);
    for (const name of ['a', 'b', 'c']) await client.create(newBox(name));
    const first = (options: { resourceVersion?: string }) =>
      client
        .watch('Box', { ...options, signal: stop.signal })
        [Symbol.asyncIterator]()
        .next();
    await expect(first({ resourceVersion: '1' })).rejects.toMatchObject({ code: 'Expired' });
    stop.abort();
    expect(await first({})).toEqual({ done: true, value: undefined });
  });

  it('lets go of the store when its consumer stops early', async () => {
    const { client, stop, store } = setUp();
    await client.create(newBox('a'));
    for await (const _event of client.watch('Box', { signal: stop.signal })) break;
    expect(store.watcherCount).toBe(0);
  });

  it('does not give what waits after it was told to end', async () => {
    const { client, stop } = setUp();
    for (const name of ['a', 'b', 'c']) await client.create(newBox(name));
    const seen: string[] = [];
    for await (const { object } of client.watch('Box', { signal: stop.signal })) {
      seen.push(object.metadata.name);
      stop.abort();
    }
    expect(seen).toEqual(['a']);
  });
});
