/** What every store must do, wherever it keeps its objects. Each store runs it from store.test.ts. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { API_VERSION, type Draft, type KindObject, type ObjectKey } from '#api/meta.ts';
import { InvalidError } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import type { StoreEvent } from '#store/history.ts';
import type { Store } from '#store/store.ts';

export interface StoreUnderTest {
  readonly store: Store;
  /** The same store after a restart; for one that forgets, a new one. */
  reopen(): Promise<StoreUnderTest>;
  dispose(): Promise<void>;
}

/** How many changes a returning watcher may have missed in the stores under test. */
export const HISTORY_LIMIT = 8;

function draft(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): Draft {
  return { apiVersion: API_VERSION, kind: 'Task', metadata: { name, ...metadata }, spec: { team: 'a', command: 'true', ...spec } };
}

function key(name: string, namespace = 'default'): ObjectKey {
  return { kind: 'Task', namespace, name };
}

function withSpec(object: KindObject, spec: JsonObject): KindObject {
  return { ...object, spec: { ...(object.spec as JsonObject), ...spec } };
}

function tagsOf(object: KindObject | undefined): string[] {
  return (object as KindObject<{ tags: string[] }> | undefined)?.spec?.tags ?? [];
}

const shown = ({ type, object, resourceVersion }: StoreEvent) => `${resourceVersion} ${type} ${object.metadata.name}`;

export function storeConformance(newStore: () => Promise<StoreUnderTest>, { isDurable }: { isDurable: boolean }): void {
  let subject: StoreUnderTest;
  let store: Store;
  let first: number;

  beforeEach(async () => {
    subject = await newStore();
    store = subject.store;
    first = store.resourceVersion;
  });

  afterEach(() => subject.dispose());

  const watched = (query: Parameters<Store['watch']>[1] = {}) => {
    const events: string[] = [];
    store.watch('Task', query, (event) => events.push(shown(event)));
    return events;
  };

  describe('create', () => {
    it('admits, defaults and stamps the object, and hands out exactly what it stored', async () => {
      const object = await store.create(draft('a'));
      expect(object).toMatchObject({
        metadata: { name: 'a', namespace: 'default', generation: 1, resourceVersion: String(first + 1) },
        spec: { priority: 3, maxAttempts: 3 },
      });
      expect(store.get(key('a'))).toEqual(object);
    });

    it('copies in and out: nobody can change what is stored but through the store', async () => {
      const asked = draft('a', { tags: ['x'] });
      const object = await store.create(asked);
      (asked.spec as { tags: string[] }).tags.push('y');
      expect(tagsOf(store.get(key('a')))).toEqual(['x']);
      expect(() => Object.assign(object.metadata, { name: 'b' })).toThrow(TypeError);
      expect(() => tagsOf(store.get(key('a'))).push('z')).toThrow(TypeError);
    });

    it('refuses a second object of the name, an invalid one, and leaves no trace of either', async () => {
      const object = await store.create(draft('a'));
      const events = watched({ resourceVersion: String(store.resourceVersion) });
      await expect(store.create(draft('a'))).rejects.toMatchObject({ code: 'AlreadyExists' });
      await expect(store.create(draft('b', { priority: 9 }))).rejects.toBeInstanceOf(InvalidError);
      expect([store.list('Task').items, events]).toEqual([[object], []]);
    });
  });

  describe('update', () => {
    it('needs the current version, counts generations by spec, and is silent when nothing changes', async () => {
      const object = await store.create(draft('a'));
      const events = watched();
      const next = await store.update(withSpec(object, { priority: 1 }));
      expect(next.metadata).toMatchObject({
        generation: 2,
        uid: object.metadata.uid,
        creationTimestamp: object.metadata.creationTimestamp,
      });
      await expect(store.update(withSpec(object, { priority: 2 }))).rejects.toMatchObject({ code: 'Conflict' });
      expect(await store.update(withSpec(next, { priority: 1 }))).toEqual(next);
      expect(await store.update({ ...next, spec: { team: 'a', command: 'true', priority: 1 } })).toEqual(next);
      const labelled = await store.update({ ...next, metadata: { ...next.metadata, labels: { l: '1' } } });
      expect(labelled.metadata.generation).toBe(2);
      expect(events).toEqual([1, 2, 3].map((step) => `${first + step} ${step === 1 ? 'ADDED' : 'MODIFIED'} a`));
    });

    it('keeps status and spec apart', async () => {
      const object = await store.create(draft('a'));
      const seen = await store.update({ ...withSpec(object, { priority: 1 }), status: { phase: 'Running' } }, { subresource: 'status' });
      expect([seen.spec, seen.status, seen.metadata.generation]).toEqual([object.spec, { phase: 'Running' }, 1]);
      const next = await store.update({ ...withSpec(seen, { priority: 1 }), status: { phase: 'Failed' } });
      expect([next.spec, next.status]).toMatchObject([{ priority: 1 }, { phase: 'Running' }]);
    });

    it('lets one of many writers with the same version win', async () => {
      const object = await store.create(draft('a'));
      const outcomes = await Promise.allSettled([1, 2, 4, 5].map((priority) => store.update(withSpec(object, { priority }))));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });
  });

  describe('delete', () => {
    it('ends an object that nothing holds, and marks one that something does until that lets go', async () => {
      await store.create(draft('a'));
      await store.create(draft('b', {}, { finalizers: ['x/held'] }));
      expect(await store.delete(key('a'))).toBeUndefined();
      const marked = (await store.delete(key('b'))) as KindObject;
      expect(marked.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2, finalizers: ['x/held'] });
      expect(await store.delete(key('b'))).toEqual(marked);
      await store.update({ ...marked, metadata: { ...marked.metadata, finalizers: [] } });
      expect(store.count('Task')).toBe(0);
    });

    it('makes room for a namesake with another uid', async () => {
      const { metadata } = await store.create(draft('a'));
      await store.delete(key('a'), { preconditions: { uid: metadata.uid } });
      const second = await store.create(draft('a'));
      expect(second.metadata.uid).not.toBe(metadata.uid);
      await expect(store.delete(key('a'), { preconditions: { uid: metadata.uid } })).rejects.toMatchObject({ code: 'Conflict' });
    });
  });

  describe('list', () => {
    it('sorts by namespace and name, selects by label and field, and names the version it shows', async () => {
      for (const [namespace, name] of [
        ['b', 'a'],
        ['a-b', 'a'],
        ['a', 'x-y'],
        ['a', 'x'],
      ] as const) {
        await store.create(draft(name, { team: `team-${namespace}` }, { namespace, labels: { name } }));
      }
      const names = (query: object) => store.list('Task', query).items.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
      expect(names({})).toEqual(['a/x', 'a/x-y', 'a-b/a', 'b/a']);
      expect(names({ namespace: 'a' })).toEqual(['a/x', 'a/x-y']);
      expect(names({ labelSelector: 'name in (a,x)' })).toEqual(['a/x', 'a-b/a', 'b/a']);
      expect(names({ fieldSelector: 'spec.team=team-b' })).toEqual(['b/a']);
      expect(store.list('Task').resourceVersion).toBe(first + 4);
    });
  });

  describe('watch', () => {
    it('shows what is there, then every change in the order of its version', async () => {
      await store.create(draft('a'));
      const events = watched();
      await Promise.all(['b', 'c', 'd'].map((name) => store.create(draft(name))));
      await store.delete(key('a'));
      expect(events).toEqual(
        ['ADDED a', 'ADDED b', 'ADDED c', 'ADDED d', 'DELETED a'].map((event, index) => `${first + 1 + index} ${event}`),
      );
    });

    it('resumes from any version it retains and refuses older ones', async () => {
      for (let index = 0; index < HISTORY_LIMIT + 2; index++) await store.create(draft(`t${index}`));
      const from = (since: number) => watched({ resourceVersion: String(since) });
      expect(from(first + HISTORY_LIMIT)).toEqual([8, 9].map((index) => `${first + index + 1} ADDED t${index}`));
      expect(from(first + 2)).toHaveLength(HISTORY_LIMIT);
      expect(() => from(first + 1)).toThrow(expect.objectContaining({ code: 'Expired' }));
    });
  });

  if (isDurable) {
    describe('a restart', () => {
      it('keeps every object as it was, forgets what was deleted, and never gives out a version twice', async () => {
        const kept = await store.create(draft('kept', { tags: ['x'] }, { labels: { l: '1' }, finalizers: ['x/held'] }));
        const seen = await store.update({ ...kept, status: { phase: 'Running' } }, { subresource: 'status' });
        await store.create(draft('gone'));
        await store.delete(key('gone'));
        const { resourceVersion } = store;
        subject = await subject.reopen();
        store = subject.store;
        expect(store.list('Task').items).toEqual([seen]);
        expect(store.resourceVersion).toBeGreaterThanOrEqual(resourceVersion);
        expect(() => watched({ resourceVersion: String(first) })).toThrow(expect.objectContaining({ code: 'Expired' }));
        const next = await store.update(withSpec(seen, { priority: 1 }));
        expect(Number(next.metadata.resourceVersion)).toBeGreaterThan(resourceVersion);
      });
    });
  }

  describe('close', () => {
    it('keeps what was accepted and refuses the rest', async () => {
      const accepted = store.create(draft('a'));
      await store.close('closing time');
      await expect(store.create(draft('b'))).rejects.toMatchObject({ code: 'Unavailable' });
      expect((await accepted).metadata.name).toBe('a');
    });
  });
}
