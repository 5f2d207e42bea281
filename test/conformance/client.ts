/** What every client must do, wherever its objects are. Each client runs it from client.test.ts. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { API_VERSION, type Draft, type KindObject, type ObjectKey } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import type { Client, WatchOptions } from '#client/client.ts';
import { AgentisoError, AlreadyExistsError, ConflictError, ExpiredError, InvalidError, NotFoundError } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';

export interface ClientUnderTest {
  readonly client: Client;
  /** Watches that the store still serves. */
  watcherCount(): number;
  dispose(): Promise<void>;
}

/** How many changes a returning watcher may have missed in the clients under test. */
export const HISTORY_LIMIT = 8;

function draft(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): Draft<Task> {
  return {
    apiVersion: API_VERSION,
    kind: 'Task',
    metadata: { name, ...metadata },
    spec: { team: 'a', command: 'true', ...spec },
  } as unknown as Draft<Task>;
}

function key(name: string, namespace = 'default'): ObjectKey {
  return { kind: 'Task', namespace, name };
}

const withSpec = (task: Task, spec: JsonObject): Task => ({ ...task, spec: { ...task.spec, ...spec } });

async function failureOf(work: Promise<unknown>): Promise<AgentisoError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof AgentisoError) return error;
  throw new Error(`expected an AgentisoError, got ${String(error)}`);
}

export function clientConformance(newClient: () => Promise<ClientUnderTest>): void {
  let subject: ClientUnderTest;
  let client: Client;
  let stop: AbortController;

  beforeEach(async () => {
    subject = await newClient();
    client = subject.client;
    stop = new AbortController();
  });

  afterEach(async () => {
    stop.abort();
    await subject.dispose();
  });

  const watch = (options: Partial<WatchOptions> = {}) => client.watch<Task>('Task', { ...options, signal: stop.signal });

  describe('create and get', () => {
    it('give the object with its defaults and its metadata, in the default namespace', async () => {
      const task = await client.create(draft('a'));
      expect(task).toMatchObject({
        apiVersion: API_VERSION,
        kind: 'Task',
        metadata: {
          name: 'a',
          namespace: 'default',
          generation: 1,
          uid: expect.any(String),
          resourceVersion: expect.stringMatching(/^\d+$/),
        },
        spec: { team: 'a', command: 'true', priority: 3 },
      });
      expect(await client.get(key('a'))).toEqual(task);
    });

    it('make up a name where only the beginning of one is given', async () => {
      const { name: _name, ...metadata } = draft('x').metadata as JsonObject;
      const task = await client.create({ ...draft('x'), metadata: { ...metadata, generateName: 'job-' } } as Draft<Task>);
      expect(task.metadata.name).toMatch(/^job-\w{5}$/);
    });

    it('say which object there is already, or is not', async () => {
      await client.create(draft('a'));
      expect(await failureOf(client.create(draft('a')))).toBeInstanceOf(AlreadyExistsError);
      const missing = await failureOf(client.get(key('b')));
      expect(missing).toBeInstanceOf(NotFoundError);
      expect(missing.message).toContain('b');
    });

    it('refuse what the schema refuses, field by field', async () => {
      const failure = await failureOf(client.create(draft('a', { priority: 9 })));
      expect(failure).toBeInstanceOf(InvalidError);
      expect((failure as InvalidError).fields).toMatchObject([{ path: 'spec.priority', segments: ['spec', 'priority'], kind: 'Invalid' }]);
      expect(await failureOf(client.create(draft('a', { priorty: 1 })))).toBeInstanceOf(InvalidError);
      expect((await client.list('Task')).items).toEqual([]);
    });

    it('know objects that have no namespace', async () => {
      const object = await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dev', namespace: '' } } as Draft);
      expect(object.metadata.namespace).toBe('');
      expect(await client.get({ kind: 'Namespace', namespace: '', name: 'dev' })).toEqual(object);
    });
  });

  describe('update and updateStatus', () => {
    it('write their own part and leave the other alone', async () => {
      const task = await client.create(draft('a'));
      const updated = await client.update<Task>({ ...withSpec(task, { priority: 1 }), status: { phase: 'Failed' } });
      expect([updated.spec.priority, updated.status, updated.metadata.generation]).toEqual([1, undefined, 2]);
      const seen = await client.updateStatus<Task>({ ...withSpec(updated, { priority: 5 }), status: { phase: 'Pending' } });
      expect([seen.spec.priority, seen.status?.phase, seen.metadata.generation]).toEqual([1, 'Pending', 2]);
    });

    it('refuse what was read too long ago', async () => {
      const task = await client.create(draft('a'));
      await client.update(withSpec(task, { priority: 1 }));
      expect(await failureOf(client.update(withSpec(task, { priority: 2 })))).toBeInstanceOf(ConflictError);
      expect(await failureOf(client.updateStatus<Task>({ ...task, status: { phase: 'Failed' } }))).toBeInstanceOf(ConflictError);
    });

    it('change nothing, the version included, when nothing differs', async () => {
      const task = await client.create(draft('a'));
      expect((await client.update(task)).metadata.resourceVersion).toBe(task.metadata.resourceVersion);
    });

    it('say that there is no such object', async () => {
      const task = await client.create(draft('a'));
      await client.delete(key('a'));
      expect(await failureOf(client.update(task))).toMatchObject({ code: expect.stringMatching(/^(NotFound|Conflict)$/) });
    });
  });

  describe('apply', () => {
    const by = (fieldManager: string, force = false) => ({ fieldManager, force });

    it('creates, changes, removes what is no longer said, and leaves alone what others set', async () => {
      const first = await client.apply(draft('a', { tags: ['x'], title: 'one' }), by('me'));
      expect(first.spec).toMatchObject({ title: 'one', tags: ['x'] });
      await client.update<Task>(withSpec(first, { description: 'theirs' }));
      const second = await client.apply(draft('a', { title: 'two' }), by('me'));
      expect(second.spec).toMatchObject({ title: 'two', description: 'theirs' });
      expect(second.spec.tags).toBeUndefined();
    });

    it('changes nothing, the version included, the second time', async () => {
      const first = await client.apply(draft('a', { title: 'one' }), by('me'));
      const second = await client.apply(draft('a', { title: 'one' }), by('me'));
      expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    });

    it('refuses what another manager has set differently, unless it is told to take it', async () => {
      await client.apply(draft('a', { title: 'mine' }), by('me'));
      const failure = await failureOf(client.apply(draft('a', { title: 'yours' }), by('you')));
      expect(failure).toBeInstanceOf(ConflictError);
      expect(failure.message).toContain('.spec.title');
      expect((await client.apply(draft('a', { title: 'yours' }), by('you', true))).spec.title).toBe('yours');
    });

    it('needs a name', async () => {
      const { metadata: _metadata, ...rest } = draft('a');
      expect(await failureOf(client.apply({ ...rest, metadata: { generateName: 'a-' } } as Draft<Task>, by('me')))).toBeInstanceOf(
        InvalidError,
      );
    });
  });

  describe('delete', () => {
    it('removes at once, or marks what still has a finalizer', async () => {
      await client.create(draft('a'));
      await client.create(draft('b', {}, { finalizers: ['example.com/wait'] }));
      await client.delete(key('a'));
      await client.delete(key('b'));
      const { items } = await client.list('Task');
      expect(items.map(({ metadata }) => [metadata.name, typeof metadata.deletionTimestamp])).toEqual([['b', 'string']]);
    });

    it('keeps to its preconditions, and says what there is none of', async () => {
      const task = await client.create(draft('a'));
      expect(await failureOf(client.delete(key('a'), { preconditions: { uid: 'another' } }))).toBeInstanceOf(ConflictError);
      await client.delete(key('a'), { preconditions: { uid: task.metadata.uid }, propagationPolicy: 'Background' });
      expect(await failureOf(client.delete(key('a')))).toBeInstanceOf(NotFoundError);
    });
  });

  describe('list', () => {
    it('gives what is asked for, sorted, with kind and version', async () => {
      await client.create(draft('b', { team: 'b' }, { labels: { l: '1' } }));
      await client.create(draft('a', {}, { labels: { l: '1' } }));
      await client.create(draft('c', {}, { namespace: 'prod' }));
      const names = async (options: Parameters<Client['list']>[1] = {}) =>
        (await client.list<Task>('Task', options)).items.map(
          ({ kind, apiVersion, metadata }) => `${apiVersion} ${kind} ${metadata.namespace}/${metadata.name}`,
        );
      const named = (...each: string[]) => each.map((name) => `${API_VERSION} Task ${name}`);
      expect(await names()).toEqual(named('default/a', 'default/b', 'prod/c'));
      expect(await names({ namespace: 'default' })).toEqual(named('default/a', 'default/b'));
      expect(await names({ labelSelector: 'l=1' })).toEqual(named('default/a', 'default/b'));
      expect(await names({ fieldSelector: 'spec.team=b' })).toEqual(named('default/b'));
      expect(await failureOf(client.list('Task', { labelSelector: 'l in (' }))).toBeInstanceOf(InvalidError);
    });

    it('gives everything, however much there is', async () => {
      const names = Array.from({ length: 620 }, (_, index) => `t${String(index).padStart(4, '0')}`);
      for (const name of names) await client.create(draft(name));
      expect((await client.list('Task')).items.map(({ metadata }) => metadata.name)).toEqual(names);
    });
  });

  describe('watch', () => {
    it('gives what is there, then what happens, in order, and ends when it is told to', async () => {
      await client.create(draft('a'));
      const seen: string[] = [];
      let isThere = () => {};
      const there = new Promise<void>((resolve) => {
        isThere = resolve;
      });
      const watching = (async () => {
        for await (const { type, object } of watch()) {
          seen.push(`${type} ${object.kind} ${object.metadata.name}`);
          isThere();
          if (type === 'DELETED') stop.abort();
        }
      })();
      await there;
      const task = await client.create(draft('b'));
      await client.updateStatus<Task>({ ...task, status: { phase: 'Pending' } });
      await client.delete(key('a'));
      await watching;
      expect(seen).toEqual(['ADDED Task a', 'ADDED Task b', 'MODIFIED Task b', 'DELETED Task a']);
    });

    it('goes on from the version of a list without a gap', async () => {
      await client.create(draft('a'));
      const { resourceVersion } = await client.list('Task');
      const created = await client.create(draft('b'));
      for await (const { type, object } of watch({ resourceVersion })) {
        expect([type, object]).toEqual(['ADDED', created]);
        break;
      }
    });

    it('shows an object that leaves or enters the selection as gone or new', async () => {
      const task = await client.create(draft('a', {}, { labels: { l: '1' } }));
      const { resourceVersion } = await client.list('Task');
      const without = await client.update<Task>({ ...task, metadata: { ...task.metadata, labels: {} } });
      await client.update<Task>({ ...without, metadata: { ...without.metadata, labels: { l: '1' } } });
      const seen: string[] = [];
      for await (const { type } of watch({ resourceVersion, labelSelector: 'l=1' })) {
        seen.push(type);
        if (seen.length === 2) break;
      }
      expect(seen).toEqual(['DELETED', 'ADDED']);
    });

    it('throws when the version is too old', async () => {
      const { resourceVersion } = await client.list('Task');
      for (let index = 0; index < HISTORY_LIMIT + 2; index++) await client.create(draft(`t${index}`));
      const first = watch({ resourceVersion })[Symbol.asyncIterator]().next();
      expect(await failureOf(first)).toBeInstanceOf(ExpiredError);
    });

    it('gives nothing when it is over before it begins, and no more once it is over', async () => {
      for (const name of ['a', 'b', 'c']) await client.create(draft(name));
      const seen: string[] = [];
      for await (const { object } of watch()) {
        seen.push(object.metadata.name);
        stop.abort();
      }
      for await (const { object } of watch()) seen.push(object.metadata.name);
      expect(seen).toEqual(['a']);
    });

    it('ends while it waits, and lets go of the store', async () => {
      await client.create(draft('a'));
      for await (const _event of watch()) break;
      const events = watch()[Symbol.asyncIterator]();
      await events.next();
      const waiting = events.next();
      stop.abort();
      expect(await waiting).toEqual({ done: true, value: undefined });
      await expect.poll(() => subject.watcherCount()).toBe(0);
    });
  });

  it('refuses a kind that there is not', async () => {
    expect(
      await failureOf(client.create({ apiVersion: 'v1', kind: 'Nothing', metadata: { name: 'a' } } as Draft<KindObject>)),
    ).toBeInstanceOf(InvalidError);
  });
}
