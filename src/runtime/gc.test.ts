import { afterEach, describe, expect, it } from 'vitest';
import type { Draft, KindObject, OwnerReference } from '#api/meta.ts';
import { UnavailableError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { boxFixture, boxKey, eventually, newBox } from './box.fixture.ts';
import { judge } from './collect.ts';
import { createManager } from './manager.ts';
import { interceptClient, type Verb } from './testing.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

interface SetUp {
  readonly resyncMs?: number;
  readonly before?: (verb: Verb, argument: unknown) => void;
}

function setUp({ before = () => {}, ...options }: SetUp = {}) {
  const { client, store, get } = boxFixture();
  const start = () => {
    const stop = new AbortController();
    const manager = createManager({
      client: interceptClient(client, before),
      log: silentLogger,
      controllers: [],
      gcKinds: ['Box', 'Lid'],
      ...options,
    });
    const ended = manager.start(stop.signal);
    stops.push(async () => {
      stop.abort();
      await ended;
    });
  };
  const lid = (name: string) => store.get({ kind: 'Lid', namespace: 'default', name });
  return { client, store, box: get, lid, start, until: (check: () => boolean) => eventually(store, check) };
}

/** Everything that needs no timer has run. */
const idle = () => new Promise((resolve) => setImmediate(resolve));

function ownedBy(...owners: (KindObject | OwnerReference)[]): OwnerReference[] {
  return owners.map((owner) => ('uid' in owner ? owner : reference(owner)));
}

function reference({ apiVersion, kind, metadata: { name, uid } }: KindObject): OwnerReference {
  return { apiVersion, kind, name, uid, blockOwnerDeletion: true };
}

function newLid(name: string, ownerReferences: OwnerReference[], finalizers: string[] = []): Draft {
  return { apiVersion: 'test/v1', kind: 'Lid', metadata: { name, namespace: 'default', ownerReferences, finalizers } };
}

describe('background', () => {
  it('deletes the dependents, and theirs, after the owner is gone', async () => {
    const { client, lid, start, until, box } = setUp();
    start();
    const owner = await client.create(newBox('owner'));
    const child = await client.create(newLid('child', ownedBy(owner)));
    await client.create(newLid('grandchild', ownedBy(child)));
    await client.create(newLid('free', []));
    await client.delete(boxKey('owner'));
    expect(box('owner')).toBeUndefined();
    await until(() => !lid('child') && !lid('grandchild'));
    expect(lid('free')).toBeDefined();
  });

  it('takes only the dangling reference from a dependent with another owner', async () => {
    const { client, lid, start, until } = setUp();
    start();
    const [first, second] = [await client.create(newBox('first')), await client.create(newBox('second'))];
    await client.create(newLid('child', ownedBy(first, second)));
    await client.delete(boxKey('first'));
    await until(() => lid('child')?.metadata.ownerReferences?.length === 1);
    expect(lid('child')?.metadata.ownerReferences).toEqual(ownedBy(second));
    await client.delete(boxKey('second'));
    await until(() => !lid('child'));
  });

  it('goes by uid: a new owner of the same name does not save the dependents of the old one', async () => {
    const { client, lid, start, until, box } = setUp();
    const old = await client.create(newBox('owner'));
    await client.create(newLid('old-child', ownedBy(old)));
    await client.delete(boxKey('owner'));
    const next = await client.create(newBox('owner'));
    await client.create(newLid('new-child', ownedBy(next)));
    start();
    await until(() => !lid('old-child'));
    expect(lid('new-child')).toBeDefined();
    expect(box('owner')?.metadata.uid).toBe(next.metadata.uid);
  });

  it('deletes a dependent whose owner never existed', async () => {
    const { client, lid, start, until } = setUp();
    start();
    await client.create(newLid('child', [{ apiVersion: 'test/v1', kind: 'Box', name: 'nobody', uid: 'none' }]));
    await until(() => !lid('child'));
  });

  it('leaves a dependent alone when it cannot know the kind of the owner', async () => {
    const { client, lid, start, until } = setUp();
    start();
    await client.create(newLid('child', [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'p' }]));
    await client.create(newLid('marker', [{ apiVersion: 'test/v1', kind: 'Box', name: 'nobody', uid: 'none' }]));
    await until(() => !lid('marker'));
    expect(lid('child')).toBeDefined();
  });

  it('deletes nothing while it cannot tell whether the owner is there, and tries again', async () => {
    let refused = 0;
    const before = (verb: Verb, argument: unknown) => {
      if (verb !== 'get' || (argument as { kind: string }).kind !== 'Box' || refused === 3) return;
      refused += 1;
      throw new UnavailableError('no answer');
    };
    const { client, lid, start, until } = setUp({ before });
    await client.create(newLid('child', [{ apiVersion: 'test/v1', kind: 'Box', name: 'nobody', uid: 'none' }]));
    start();
    await until(() => !lid('child'));
    expect(refused).toBe(3);
  });

  it('spares a dependent that gets another owner in the last moment', async () => {
    const fixture = setUp({
      before: (verb) => {
        if (verb === 'delete') rescue();
      },
    });
    const { client, lid, start, until } = fixture;
    const rescuer = await client.create(newBox('rescuer'));
    const child = await client.create(newLid('child', [{ apiVersion: 'test/v1', kind: 'Box', name: 'nobody', uid: 'none' }]));
    let rescued: Promise<unknown> | undefined;
    const rescue = () => {
      const ownerReferences = [...(child.metadata.ownerReferences ?? []), ...ownedBy(rescuer)];
      rescued ??= client.update({ ...child, metadata: { ...child.metadata, ownerReferences } });
    };
    start();
    await until(() => lid('child')?.metadata.ownerReferences?.[0]?.uid === rescuer.metadata.uid);
    await rescued;
    expect(lid('child')?.metadata.ownerReferences).toEqual(ownedBy(rescuer));
  });
});

describe('foreground', () => {
  it('keeps the owner until the last blocking dependent is gone', async () => {
    const { client, lid, box, start, until } = setUp();
    start();
    const owner = await client.create(newBox('owner'));
    const child = await client.create(newLid('child', ownedBy(owner)));
    await client.create(newLid('slow', ownedBy(child), ['test/slow']));
    await client.delete(boxKey('owner'), { propagationPolicy: 'Foreground' });
    await until(() => lid('slow')?.metadata.deletionTimestamp !== undefined);
    expect(box('owner')?.metadata.finalizers).toEqual(['foregroundDeletion']);
    expect(lid('child')?.metadata.finalizers).toEqual(['foregroundDeletion']);
    const slow = await client.get({ kind: 'Lid', namespace: 'default', name: 'slow' });
    await client.update({ ...slow, metadata: { ...slow.metadata, finalizers: [] } });
    await until(() => !box('owner'));
    expect([lid('child'), lid('slow')]).toEqual([undefined, undefined]);
  });

  it('does not wait for dependents that do not block', async () => {
    const { client, lid, box, start, until } = setUp();
    start();
    const owner = await client.create(newBox('owner'));
    const [ref] = ownedBy(owner);
    await client.create(newLid('child', ref ? [{ ...ref, blockOwnerDeletion: false }] : [], ['test/slow']));
    await client.delete(boxKey('owner'), { propagationPolicy: 'Foreground' });
    await until(() => !box('owner'));
    expect(lid('child')?.metadata.deletionTimestamp).toBeDefined();
  });

  it('releases a dependent that somebody else owns too', async () => {
    const { client, lid, box, start, until } = setUp();
    start();
    const [first, second] = [await client.create(newBox('first')), await client.create(newBox('second'))];
    await client.create(newLid('child', ownedBy(first, second)));
    await client.delete(boxKey('first'), { propagationPolicy: 'Foreground' });
    await until(() => !box('first'));
    expect(lid('child')?.metadata.ownerReferences).toEqual(ownedBy(second));
  });

  it('goes on when a dependent is released by hand', async () => {
    const { client, lid, box, start, until } = setUp();
    start();
    const owner = await client.create(newBox('owner'));
    await client.create(newLid('child', ownedBy(owner), ['test/slow']));
    // Looks that are under way have to end, here and below, or one of them would see the release itself.
    await idle();
    await client.delete(boxKey('owner'), { propagationPolicy: 'Foreground' });
    await until(() => lid('child')?.metadata.deletionTimestamp !== undefined);
    await idle();
    const child = await client.get({ kind: 'Lid', namespace: 'default', name: 'child' });
    await client.update({ ...child, metadata: { ...child.metadata, ownerReferences: [] } });
    await until(() => !box('owner'));
    expect(lid('child')).toBeDefined();
  });

  it('ends in a circle of owners too', async () => {
    const { client, lid, start, until } = setUp();
    const a = await client.create(newLid('a', []));
    const b = await client.create(newLid('b', ownedBy(a)));
    const c = await client.create(newLid('c', ownedBy(b)));
    await client.update({ ...a, metadata: { ...a.metadata, ownerReferences: ownedBy(c) } });
    start();
    await client.delete({ kind: 'Lid', namespace: 'default', name: 'a' }, { propagationPolicy: 'Foreground' });
    await until(() => !lid('a') && !lid('b') && !lid('c'));
  });
});

describe('orphan', () => {
  it('strips the reference from the dependents, then lets the owner go', async () => {
    const { client, lid, box, start, until } = setUp();
    start();
    const owner = await client.create(newBox('owner'));
    const second = await client.create(newBox('second'));
    await client.create(newLid('only', ownedBy(owner)));
    await client.create(newLid('both', ownedBy(owner, second)));
    await client.delete(boxKey('owner'), { propagationPolicy: 'Orphan' });
    await until(() => !box('owner'));
    expect(lid('only')?.metadata.ownerReferences).toBeUndefined();
    expect(lid('both')?.metadata.ownerReferences).toEqual(ownedBy(second));
  });

  it('keeps the owner while a dependent cannot be released', async () => {
    let refused = 0;
    const before = (verb: Verb, argument: unknown) => {
      if (verb !== 'update' || (argument as KindObject).metadata.name !== 'bad' || refused === 2) return;
      refused += 1;
      throw new UnavailableError('disk full');
    };
    const { client, lid, box, start, until } = setUp({ before });
    start();
    const owner = await client.create(newBox('owner'));
    await client.create(newLid('bad', ownedBy(owner)));
    await client.create(newLid('good', ownedBy(owner)));
    await client.delete(boxKey('owner'), { propagationPolicy: 'Orphan' });
    await until(() => lid('good')?.metadata.ownerReferences === undefined);
    await until(() => !box('owner'));
    expect(refused).toBe(2);
    expect(lid('bad')?.metadata.ownerReferences).toBeUndefined();
  });
});

it.each([
  { states: ['live'], want: 'keep' },
  { states: ['unknown'], want: 'keep' },
  { states: ['absent'], want: 'delete' },
  { states: ['waiting'], want: 'deleteWithDependents' },
  { states: ['absent', 'waiting'], want: 'deleteWithDependents' },
  { states: ['live', 'absent'], want: 'release' },
  { states: ['live', 'waiting'], want: 'release' },
  { states: ['unknown', 'absent'], want: 'release' },
] as const)('owners $states: $want', ({ states, want }) => {
  expect(judge(states)).toBe(want);
});
