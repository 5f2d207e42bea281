import { describe, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import type { KindObject } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import { ConflictError, InvalidError } from '#lib/errors.ts';
import { interceptClient } from '#runtime/testing.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import { applyObject } from './apply.ts';
import { localClient } from './local.ts';

const KEY = { kind: 'Task', namespace: 'default', name: 'a' };

function manifest(spec: object | null = { team: 'a', command: 'true' }, metadata: object = {}): KindObject {
  const draft = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', metadata: { name: 'a', namespace: 'default', ...metadata } };
  return (spec ? { ...draft, spec } : draft) as unknown as KindObject;
}

function setUp() {
  const store = memoryStore({ kinds, admission });
  const client = localClient(store);
  return { store, client, stored: () => store.get(KEY) as Task | undefined };
}

describe('applyObject', () => {
  it('creates, configures, and says when there was nothing to do', async () => {
    const { client, store, stored } = setUp();
    expect(await applyObject(client, manifest())).toBe('created');
    expect(await applyObject(client, manifest())).toBe('unchanged');
    expect(store.resourceVersion).toBe(1);
    expect(await applyObject(client, manifest({ team: 'a', command: 'false' }))).toBe('configured');
    expect(stored()).toMatchObject({ metadata: { generation: 2 }, spec: { command: 'false' } });
  });

  it('leaves alone what the manifest does not mention', async () => {
    const { client, stored } = setUp();
    const metadata = { labels: { l: '1' }, annotations: { n: '1' }, finalizers: ['x/y'] };
    const first = await client.create<Task>(
      manifest({ team: 'a', command: 'true', priority: 1, env: { A: '1', B: '2' } }, metadata) as Task,
    );
    await client.updateStatus<Task>({ ...first, status: { phase: 'Pending' } });
    await applyObject(client, manifest({ team: 'a', command: 'true', env: { B: '3', C: '4' } }, { labels: { m: '2' } }));
    expect(stored()).toMatchObject({
      metadata: { labels: { l: '1', m: '2' }, annotations: { n: '1' }, finalizers: ['x/y'] },
      spec: { priority: 1, env: { A: '1', B: '3', C: '4' } },
      status: { phase: 'Pending' },
    });
    expect(await applyObject(client, manifest(null, { labels: { m: '2' } }))).toBe('unchanged');
  });

  it('replaces lists as a whole, and does not take status from a manifest', async () => {
    const { client, stored } = setUp();
    await applyObject(client, manifest({ team: 'a', command: 'true', tags: ['x', 'y'] }));
    await applyObject(client, { ...manifest({ team: 'a', command: 'true', tags: ['y'] }), status: { phase: 'Succeeded' } });
    expect([stored()?.spec.tags, stored()?.status]).toEqual([['y'], undefined]);
  });

  it.each([
    {
      name: 'somebody writes between its read and its write',
      verb: 'update' as const,
      race: async (client: ReturnType<typeof localClient>) => {
        const now = await client.get<Task>(KEY);
        await client.update<Task>({ ...now, spec: { ...now.spec, priority: 1 } });
      },
      want: { outcome: 'configured', priority: 1 },
    },
    {
      name: 'somebody deletes between its read and its write',
      verb: 'update' as const,
      race: async (client: ReturnType<typeof localClient>) => client.delete(KEY),
      want: { outcome: 'created', priority: 3 },
    },
  ])('tries again when $name', async ({ verb, race, want }) => {
    const { client, stored } = setUp();
    await applyObject(client, manifest());
    let races = 1;
    const raced = interceptClient(client, async (called) => {
      if (called === verb && races-- > 0) await race(client);
    });
    expect(await applyObject(raced, manifest({ team: 'a', command: 'other' }))).toBe(want.outcome);
    expect(stored()?.spec).toMatchObject({ command: 'other', priority: want.priority });
  });

  it('tries again when somebody creates it first', async () => {
    const { client, stored } = setUp();
    let races = 1;
    const raced = interceptClient(client, async (called) => {
      if (called === 'create' && races-- > 0) await client.create<Task>(manifest({ team: 'a', command: 'theirs' }) as Task);
    });
    expect(await applyObject(raced, manifest())).toBe('configured');
    expect(stored()?.spec.command).toBe('true');
  });

  it('gives up in the end, and at once when trying again cannot help', async () => {
    const { client } = setUp();
    await applyObject(client, manifest());
    let tries = 0;
    const busy = interceptClient(client, (called) => {
      if (called !== 'update') return;
      tries++;
      throw new ConflictError('too late');
    });
    await expect(applyObject(busy, manifest({ team: 'a', command: 'x' }))).rejects.toThrow('too late');
    expect(tries).toBe(10);
    await expect(applyObject(client, manifest({ team: 'b', command: 'x' }))).rejects.toThrow(InvalidError);
  });
});
