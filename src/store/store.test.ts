import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Draft, KindObject } from '#api/meta.ts';
import { InvalidError, ignoreNotFound } from '#lib/errors.ts';
import { admitAll, memoryStore } from '../../test/support/memory-store.ts';
import type { Change, Persistence } from './change.ts';
import { Store, type StoreOptions } from './store.ts';

function newBox(name: string, rest: Partial<Draft> = {}): Draft {
  return { apiVersion: 'test/v1', kind: 'Box', metadata: { name }, spec: { size: 1 }, ...rest };
}

const key = (name: string) => ({ kind: 'Box', namespace: 'default', name });

function storeWith(persistence: Persistence, rest: Partial<StoreOptions> = {}): Store {
  return new Store({ kinds: [{ kind: 'Box', selectableFields: ['spec.size'] }], admission: admitAll, persistence, ...rest });
}

function eventsOf(store: Store): string[] {
  const events: string[] = [];
  store.watch('Box', {}, ({ type, object, resourceVersion }) => events.push(`${resourceVersion} ${type} ${object.metadata.name}`));
  return events;
}

/** Commits wait until they are let go, one by one, and can be refused. */
function heldPersistence() {
  const commits: { readonly changes: readonly Change[]; readonly land: (failure?: Error) => void }[] = [];
  const persistence: Persistence = {
    commit: (changes) =>
      new Promise((resolve, reject) => {
        commits.push({ changes, land: (failure) => (failure ? reject(failure) : resolve()) });
      }),
  };
  return { persistence, commits };
}

/** Every promise that can settle has settled. */
const idle = () => new Promise((resolve) => setImmediate(resolve));

describe('the JSON of a write', () => {
  it('is told before those who watch hear of the object, so that nobody makes it again', async () => {
    const store = storeWith({ commit: async () => {} });
    const made = new Map<KindObject, string>();
    const seen: (string | undefined)[] = [];
    const options = { onText: (object: KindObject, json: string) => void made.set(object, json) };
    await store.create(newBox('a'), options);
    store.watch('Box', { resourceVersion: '1' }, ({ object }) => seen.push(made.get(object)));
    const changed = await store.modify(key('a'), (current) => ({ ...(current as KindObject), spec: { size: 2 } }), options);
    expect(seen).toEqual([JSON.stringify(changed)]);
  });
});

describe('create', () => {
  it('gives a new object the finalizers of its kind, beside its own and once each, and does not say that the writer set them', async () => {
    const kinds = [{ kind: 'Box', selectableFields: [], finalizers: ['test/keeper', 'test/counter'] }];
    const seen: (readonly string[] | undefined)[] = [];
    const track = (_current: KindObject | undefined, admitted: KindObject) => {
      seen.push(admitted.metadata.finalizers);
      return undefined;
    };
    const store = storeWith({ commit: async () => {} }, { kinds });
    const metadata = { name: 'b', finalizers: ['test/mine', 'test/counter'] };
    const made = [await store.create(newBox('a'), { track }), await store.create({ ...newBox('b'), metadata }, { track })];
    const finalizers = made.map((object) => object.metadata.finalizers);
    expect(finalizers).toEqual([
      ['test/keeper', 'test/counter'],
      ['test/mine', 'test/counter', 'test/keeper'],
    ]);
    expect(seen).toEqual([undefined, metadata.finalizers]);
  });

  it('leaves it to whoever looks after an object that has lost a finalizer to give it back', async () => {
    const kinds = [{ kind: 'Box', selectableFields: [], finalizers: ['test/keeper'] }];
    const store = storeWith({ commit: async () => {} }, { kinds });
    const { metadata, ...box } = await store.create(newBox('a'));
    const { finalizers: _lost, ...rest } = metadata;
    expect((await store.update({ ...box, metadata: rest })).metadata.finalizers).toBeUndefined();
  });

  it('sets what the server decides and drops what the request may not bring', async () => {
    const now = new Date('2026-01-02T03:04:05.678Z');
    const store = memoryStore({ kinds: ['Box'], clock: { now: () => now } });
    const metadata = {
      name: 'a',
      uid: 'mine',
      generation: 7,
      creationTimestamp: 'x',
      deletionTimestamp: 'x',
      deletionGracePeriodSeconds: 1,
    };
    const object = await store.create({ ...newBox('a'), metadata, status: { size: 1 } });
    expect(object.metadata).toEqual({
      name: 'a',
      namespace: 'default',
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-02T03:04:05Z',
    });
    expect(object.status).toBeUndefined();
    expect(store.get(key('a'))).toBe(object);
  });

  it('makes a name of 63 characters at most from generateName, another one each time', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    const generateName = `${'x'.repeat(80)}-`;
    const make = () => store.create({ ...newBox(''), metadata: { generateName } });
    const names = (await Promise.all([make(), make(), make()])).map(({ metadata }) => metadata.name);
    for (const name of names) expect(name).toMatch(/^x{58}[a-z0-9]{5}$/);
    expect(new Set(names).size).toBe(3);
  });

  it.each([
    {
      name: 'neither name nor generateName',
      metadata: { name: '' },
      message: 'metadata.name: Required value: name or generateName is required',
    },
    {
      name: 'a resourceVersion',
      metadata: { name: 'a', resourceVersion: '1' },
      message: 'metadata.resourceVersion: must not be set on objects to be created',
    },
  ])('refuses $name', async ({ metadata, message }) => {
    await expect(memoryStore({ kinds: ['Box'] }).create({ ...newBox('a'), metadata })).rejects.toThrow(message);
  });

  it('lets only one of several at the same moment have the name', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => store.create(newBox('a'))));
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'AlreadyExists' });
  });
});

describe('update', () => {
  it('lets exactly one of many writers with the same version win', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 12 }), async (writers) => {
        const store = memoryStore({ kinds: ['Box'] });
        const events = eventsOf(store);
        const object = await store.create(newBox('a'));
        const outcomes = await Promise.allSettled(
          Array.from({ length: writers }, (_, index) => store.update({ ...object, spec: { size: index + 10 } })),
        );
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'Conflict', hint: expect.stringContaining('2') });
          else expect(store.get(key('a'))).toBe(outcome.value);
        }
        expect(events).toEqual(['1 ADDED a', '2 MODIFIED a']);
      }),
      { numRuns: 20 },
    );
  });

  it('needs a version', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    const object = await store.create(newBox('a'));
    const update = store.update({ ...object, metadata: { ...object.metadata, resourceVersion: '' } });
    await expect(update).rejects.toThrow('metadata.resourceVersion: must be specified for an update');
  });

  it('refuses the version of a namesake by its uid', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    const object = await store.create(newBox('a'));
    const update = store.update({ ...object, metadata: { ...object.metadata, uid: 'other' } });
    await expect(update).rejects.toMatchObject({ code: 'Conflict', reason: 'UidChanged' });
  });

  it('cannot delete by bringing a deletionTimestamp', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    const object = await store.create(newBox('a'));
    await store.update({ ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } });
    expect(store.get(key('a'))).toBe(object);
  });

  it('says which finalizers cannot be added any more', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    await store.create(newBox('a', { metadata: { name: 'a', finalizers: ['x/one'] } }));
    const marked = (await store.delete(key('a'))) as KindObject;
    const update = store.update({ ...marked, metadata: { ...marked.metadata, finalizers: ['x/one', 'x/two'] } });
    await expect(update).rejects.toThrow(
      'no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/two"}',
    );
  });

  it('takes what admission made of the object, and nothing when admission refuses', async () => {
    const admission = {
      admit: (object: KindObject) => {
        const { size } = object.spec as { size: number };
        if (size > 9) throw new InvalidError('spec.size: too large');
        return { ...object, spec: { size, isDefaulted: true } };
      },
    };
    const store = memoryStore({ kinds: ['Box'], admission });
    const object = await store.create(newBox('a'));
    expect(object.spec).toEqual({ size: 1, isDefaulted: true });
    await expect(store.update({ ...object, spec: { size: 10 } })).rejects.toThrow('spec.size: too large');
    expect(await store.update({ ...object, spec: { size: 1 } })).toBe(object);
    expect(store.resourceVersion).toBe(1);
  });
});

describe('delete', () => {
  it('checks uid and version where they are given', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    const { metadata } = await store.create(newBox('a'));
    const { uid, resourceVersion } = metadata;
    await expect(store.delete(key('a'), { preconditions: { uid: 'other' } })).rejects.toMatchObject({ code: 'Conflict' });
    await expect(store.delete(key('a'), { preconditions: { uid, resourceVersion: '0' } })).rejects.toMatchObject({ code: 'Conflict' });
    expect(await store.delete(key('a'), { preconditions: { uid, resourceVersion } })).toBeUndefined();
    await expect(store.delete(key('a'))).rejects.toMatchObject({ code: 'NotFound', message: 'Box default/a not found' });
  });

  it('gives the deletion a version of its own, in the event and for those who come back', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    await store.create(newBox('a'));
    const versions: string[] = [];
    store.watch('Box', { resourceVersion: '1' }, ({ object }) => versions.push(object.metadata.resourceVersion));
    await store.delete(key('a'));
    expect(versions).toEqual(['2']);
    expect(store.resourceVersion).toBe(2);
  });

  it('ends at once when an explicit Background takes the place of a foreground deletion', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    await store.create(newBox('a'));
    expect(await store.delete(key('a'), { propagationPolicy: 'Foreground' })).toMatchObject({
      metadata: { finalizers: ['foregroundDeletion'] },
    });
    expect(await store.delete(key('a'), { propagationPolicy: 'Background' })).toBeUndefined();
    expect(store.get(key('a'))).toBeUndefined();
  });
});

describe('dryRun', () => {
  it('answers as the real thing would, stores nothing and tells nobody', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    const object = await store.create(newBox('a'));
    const events = eventsOf(store);
    expect(await store.create(newBox('b'), { dryRun: true })).toMatchObject({ metadata: { name: 'b' } });
    expect((await store.create(newBox('b'), { dryRun: true })).metadata).not.toHaveProperty('resourceVersion');
    const next = { ...object, spec: { size: 2 } };
    expect(await store.update(next, { dryRun: true })).toMatchObject({
      spec: { size: 2 },
      metadata: { generation: 2, resourceVersion: '1' },
    });
    expect(await store.delete(key('a'), {}, { dryRun: true })).toBeUndefined();
    await expect(store.create(newBox('a'), { dryRun: true })).rejects.toMatchObject({ code: 'AlreadyExists' });
    expect(store.list('Box').items).toEqual([object]);
    expect(store.resourceVersion).toBe(1);
    expect(events).toEqual(['1 ADDED a']);
    expect(await store.create(newBox('b'))).toMatchObject({ metadata: { resourceVersion: '2' } });
  });
});

describe('list and watch', () => {
  it('tell of nothing that is not on disk yet', async () => {
    const { persistence, commits } = heldPersistence();
    const store = storeWith(persistence);
    const events = eventsOf(store);
    const writing = store.create(newBox('a'));
    await idle();
    expect(commits).toHaveLength(1);
    expect([store.get(key('a')), store.list('Box').items, store.resourceVersion, events]).toEqual([undefined, [], 0, []]);
    commits[0]?.land();
    await writing;
    expect(events).toEqual(['1 ADDED a']);
  });

  it('hand out objects that nobody can change', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    const object = await store.create(newBox('a', { metadata: { name: 'a', labels: { b: 'c' } } }));
    expect(() => Object.assign(object.metadata.labels as object, { b: 'd' })).toThrow(TypeError);
    expect(() => Object.assign(store.list('Box').items[0]?.spec as object, { size: 2 })).toThrow(TypeError);
  });

  it('select by label and field, and refuse fields that are not declared', async () => {
    const store = storeWith({ commit: async () => {} });
    await store.create(newBox('a', { metadata: { name: 'a', labels: { team: 'red' } } }));
    await store.create(newBox('b', { spec: { size: 2 } }));
    const names = (query: object) => store.list('Box', query).items.map(({ metadata }) => metadata.name);
    expect(names({ labelSelector: 'team=red' })).toEqual(['a']);
    expect(names({ fieldSelector: 'spec.size=2' })).toEqual(['b']);
    expect(names({ fieldSelector: 'metadata.name=a,metadata.namespace=default' })).toEqual(['a']);
    expect(names({ namespace: 'other' })).toEqual([]);
    expect(() => names({ fieldSelector: 'spec.colour=red' })).toThrow('field label not supported: spec.colour');
    expect(() => store.watch('Box', { fieldSelector: 'spec.colour=red' }, () => {})).toThrow(InvalidError);
  });

  it('show an object that enters a selector as ADDED and one that leaves it as DELETED, as it was last seen', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    const seen: unknown[] = [];
    store.watch('Box', { labelSelector: 'team=red' }, ({ type, object }) => seen.push([type, object.metadata.labels?.['team']]));
    let object = await store.create(newBox('a', { metadata: { name: 'a', labels: { team: 'blue' } } }));
    for (const team of ['red', 'blue', 'green', 'red']) {
      object = await store.update({ ...object, metadata: { ...object.metadata, labels: { team } } });
    }
    await store.delete(key('a'));
    expect(seen).toEqual([
      ['ADDED', 'red'],
      ['DELETED', 'red'],
      ['ADDED', 'red'],
      ['DELETED', 'red'],
    ]);
  });

  it.each(['', '-1', '1.5', 'abc', '12345678901234567'])('refuse %j as a version', (resourceVersion) => {
    expect(() => memoryStore({ kinds: ['Box'] }).watch('Box', { resourceVersion }, () => {})).toThrow(/invalid resource version/);
  });
});

describe('a kind that does not exist', () => {
  const store = memoryStore({ kinds: ['Box', 'Lid'] });
  const unknown = { kind: 'Bax', namespace: 'default', name: 'a' };

  it.each<[string, () => unknown]>([
    ['get', async () => store.get(unknown)],
    ['list', async () => store.list('Bax')],
    ['watch', async () => store.watch('Bax', {}, () => {})],
    ['create', () => store.create({ ...newBox('a'), kind: 'Bax' })],
    ['delete', () => store.delete(unknown)],
  ])('is not mistaken by %s for an object that does not exist', async (_verb, call) => {
    await expect(ignoreNotFound(call() as Promise<unknown>)).rejects.toMatchObject({
      code: 'Invalid',
      reason: 'UnknownKind',
      message: 'unknown kind "Bax"; known: Box, Lid',
    });
  });
});

describe('group commit', () => {
  it('takes what gathers while one commit is under way in one more, in the order of the versions', async () => {
    const { persistence, commits } = heldPersistence();
    const store = storeWith(persistence);
    const events = eventsOf(store);
    const first = ['a', 'b'].map((name) => store.create(newBox(name)));
    await idle();
    const second = ['c', 'd', 'e'].map((name) => store.create(newBox(name)));
    await idle();
    expect(commits.map(({ changes }) => changes.map(({ resourceVersion }) => resourceVersion))).toEqual([[1, 2]]);
    commits[0]?.land();
    await Promise.all(first);
    await idle();
    expect(commits[1]?.changes.map(({ resourceVersion, key: { name } }) => `${resourceVersion} ${name}`)).toEqual(['3 c', '4 d', '5 e']);
    commits[1]?.land();
    await Promise.all(second);
    expect(events).toEqual(['1 ADDED a', '2 ADDED b', '3 ADDED c', '4 ADDED d', '5 ADDED e']);
  });

  it('makes later writes of one object wait for the one under way, and decide on what it left', async () => {
    const { persistence, commits } = heldPersistence();
    const store = storeWith(persistence);
    const creating = store.create(newBox('a'));
    const deleting = store.delete(key('a'));
    await idle();
    expect(commits).toHaveLength(1);
    commits[0]?.land();
    await creating;
    await idle();
    commits[1]?.land();
    expect(await deleting).toBeUndefined();
    expect(store.count('Box')).toBe(0);
  });

  it('waits at close for what was accepted, and refuses what comes after', async () => {
    const { persistence, commits } = heldPersistence();
    const store = storeWith(persistence);
    const accepted = store.create(newBox('a'));
    await idle();
    let isClosed = false;
    const closing = store.close('closing time').then(() => {
      isClosed = true;
    });
    await expect(store.create(newBox('b'))).rejects.toMatchObject({ code: 'Unavailable', message: 'closing time' });
    await idle();
    expect(isClosed).toBe(false);
    commits[0]?.land();
    await closing;
    expect((await accepted).metadata.name).toBe('a');
  });
});

describe('a disk that fails', () => {
  type Attempt = { readonly name: string; readonly verb: 'put' | 'delete' };
  const attempt: fc.Arbitrary<Attempt> = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    verb: fc.constantFrom('put' as const, 'put' as const, 'delete' as const),
  });

  it('leaves no trace of what it refused, no gap in the order, and takes later writes', async () => {
    const rounds = fc.array(fc.record({ attempts: fc.array(attempt, { minLength: 1, maxLength: 6 }), fails: fc.boolean() }), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(rounds, async (list) => {
        const failure = new Error('no space left on device');
        let fails = false;
        const durable: Change[] = [];
        const store = storeWith({
          commit: async (changes) => {
            await Promise.resolve();
            if (fails) throw failure;
            durable.push(...changes);
          },
        });
        const events = eventsOf(store);
        for (const { attempts, fails: failing } of list) {
          fails = failing;
          const before = store.list('Box');
          const outcomes = await Promise.allSettled(attempts.map((each) => tryWrite(store, each)));
          if (failing) expect(store.list('Box')).toEqual(before);
          for (const outcome of outcomes) {
            if (outcome.status === 'rejected' && outcome.reason === failure) expect(failing).toBe(true);
          }
        }
        expect(events.map((event) => event.replace(/ (ADDED|MODIFIED) /, ' put ').replace(' DELETED ', ' delete '))).toEqual(
          durable.map(({ resourceVersion, type, key: { name } }) => `${resourceVersion} ${type} ${name}`),
        );
        const versions = durable.map(({ resourceVersion }) => resourceVersion);
        expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
        const model = new Map<string, KindObject>();
        for (const { type, object } of durable) {
          if (type === 'put') model.set(object.metadata.name, object);
          else model.delete(object.metadata.name);
        }
        expect(new Map(store.list('Box').items.map((object) => [object.metadata.name, object]))).toEqual(model);
        fails = false;
        await store.create(newBox('later'));
        expect(store.get(key('later'))).toBeDefined();
      }),
      { numRuns: 60 },
    );
  });

  async function tryWrite(store: Store, { name, verb }: Attempt): Promise<unknown> {
    if (verb === 'delete') return store.delete(key(name));
    const stored = store.get(key(name));
    return stored ? store.update({ ...stored, spec: { size: Math.random() } }) : store.create(newBox(name));
  }
});

describe('load', () => {
  it('goes on from the version it is given, and watchers cannot go back behind it', async () => {
    const store = memoryStore({ kinds: ['Box'] });
    const old = { ...(await memoryStore({ kinds: ['Box'] }).create(newBox('a'))) };
    store.load([old], 41);
    expect(store.get(key('a'))).toBe(old);
    expect(await store.create(newBox('b'))).toMatchObject({ metadata: { resourceVersion: '42' } });
    expect(() => store.watch('Box', { resourceVersion: '40' }, () => {})).toThrow(expect.objectContaining({ code: 'Expired' }));
  });
});
