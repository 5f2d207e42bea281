import { beforeEach, describe, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import { CONTENTS_FINALIZER } from '#api/namespace.ts';
import type { Client } from '#client/client.ts';
import { localClient } from '#client/local.ts';
import type { Controller } from '#runtime/controller.ts';
import { countTurns } from '#runtime/count-turns.fixture.ts';
import { reconcileKey } from '#runtime/reconcile.ts';
import { interceptClient, testContext } from '#runtime/testing.ts';
import type { Store } from '#store/store.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import { namespaceController } from './controller.ts';

let store: Store;
let client: Client;
const key = { kind: 'Namespace', namespace: '', name: 'shop' };
const contentKinds = ['Team', 'ConfigMap'];
const pass = (over: Client = client) =>
  reconcileKey(namespaceController({ client: over, contentKinds }) as Controller, key, over, testContext());

beforeEach(async () => {
  store = memoryStore({ kinds, admission });
  client = localClient(store);
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', namespace: '' } });
  for (const namespace of ['shop', 'other']) {
    await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace }, data: { a: '1' } } as never);
  }
});

describe('the namespace controller', () => {
  it('holds the namespace before anything can be deleted with it', async () => {
    await pass();
    expect(store.get(key)).toMatchObject({ metadata: { finalizers: [CONTENTS_FINALIZER] }, status: { phase: 'Active' } });
    const version = store.resourceVersion;
    await pass();
    expect(store.resourceVersion).toBe(version);
  });

  it('deletes what is in the namespace, and nothing else, and then lets it go', async () => {
    await pass();
    await client.delete(key);
    expect(await pass()).toEqual({ requeueAfterMs: expect.any(Number) });
    expect(store.get(key)?.status).toEqual({ phase: 'Terminating' });
    expect(await pass()).toEqual({});
    expect(store.get(key)).toBeUndefined();
    expect(store.list('ConfigMap').items.map(({ metadata }) => metadata.namespace)).toEqual(['other']);
  });

  it('deletes thousands a few at a time, so that others have their turn', async () => {
    const names = Array.from({ length: 400 }, (_, index) => `more-${index}`);
    for (const name of names) await client.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'shop' } } as never);
    await pass();
    await client.delete(key);
    const turns = countTurns();
    await pass(interceptClient(client, (verb) => (verb === 'delete' ? turns.note() : undefined)));
    expect(turns.end()).toBeLessThan(100);
    expect(store.list('ConfigMap', { namespace: 'shop' }).items).toHaveLength(0);
  });

  it('waits for what holds itself back', async () => {
    const held = store.get({ kind: 'ConfigMap', namespace: 'shop', name: 'settings' });
    await client.update({ ...held, metadata: { ...held?.metadata, finalizers: ['x/y'] } } as never);
    await pass();
    await client.delete(key);
    await pass();
    expect(await pass()).toEqual({ requeueAfterMs: expect.any(Number) });
    const { conditions } = (await client.get(key)).status as { conditions: { type: string; status: string; message: string }[] };
    expect(conditions.map(({ type, status, message }) => [type, status, message].join(' '))).toEqual([
      'NamespaceDeletionDiscoveryFailure False All resources successfully discovered',
      'NamespaceDeletionGroupVersionParsingFailure False All legacy kube types successfully parsed',
      'NamespaceDeletionContentFailure False All content successfully deleted, may be waiting on finalization',
      'NamespaceContentRemaining True Some resources are remaining: configmaps. has 1 resource instances',
      'NamespaceFinalizersRemaining True Some content in the namespace has finalizers remaining: x/y in 1 resource instances',
    ]);
    const version = store.resourceVersion;
    await pass();
    expect(store.resourceVersion).toBe(version);
    const marked = store.get({ kind: 'ConfigMap', namespace: 'shop', name: 'settings' });
    await client.update({ ...marked, metadata: { ...marked?.metadata, finalizers: [] } } as never);
    await pass();
    expect(store.get(key)).toBeUndefined();
  });

  it('empties a namespace that was deleted before it ever looked at it', async () => {
    await client.delete(key);
    await pass();
    await pass();
    expect(store.get(key)).toBeUndefined();
    expect(store.list('ConfigMap', { namespace: 'shop' }).items).toEqual([]);
  });

  it('leaves a namespace to others that hold it', async () => {
    const before = await client.get(key);
    await client.update({
      ...before,
      spec: { finalizers: ['kubernetes', 'x.y/z'] },
      metadata: { ...before.metadata, finalizers: ['a.b/c'] },
    });
    await pass();
    await client.delete(key);
    await pass();
    await pass();
    expect(store.get(key)).toMatchObject({ metadata: { finalizers: ['a.b/c'] }, spec: { finalizers: ['x.y/z'] } });
    await client.update({ ...(await client.get(key)), spec: { finalizers: [] } });
    const held = await client.get(key);
    await client.update({ ...held, metadata: { ...held.metadata, finalizers: [] } });
    expect(store.get(key)).toBeUndefined();
  });

  it('keeps the namespace while its contents cannot be listed', async () => {
    await pass();
    await client.delete(key);
    const broken = interceptClient(client, (verb) => {
      if (verb === 'list') throw new Error('cannot tell');
    });
    await expect(pass(broken)).rejects.toThrow('cannot tell');
    expect(store.get(key)).toBeDefined();
  });
});
