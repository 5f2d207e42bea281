import { describe, expect, it } from 'vitest';
import { FOREGROUND_FINALIZER, type KindObject, ORPHAN_FINALIZER } from '#api/meta.ts';
import { type DeleteRequest, isReleased, isSame, marked, statusUpdated, updated, withGeneration } from './rules.ts';

const NOW = '2026-01-02T03:04:05Z';

function box(metadata: Partial<KindObject['metadata']> = {}, rest: Partial<KindObject> = {}): KindObject {
  const base = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '7', generation: 3, creationTimestamp: NOW };
  return { apiVersion: 'test/v1', kind: 'Box', metadata: { ...base, ...metadata }, spec: { size: 1 }, ...rest };
}

describe('marked', () => {
  it.each<{
    name: string;
    before: string[];
    policy?: NonNullable<DeleteRequest['propagationPolicy']>;
    want: string[] | undefined;
  }>([
    { name: 'lets an object without finalizers go at once', before: [], want: undefined },
    { name: 'keeps finalizers of others', before: ['x/one'], want: ['x/one'] },
    { name: 'keeps a policy that was asked for before when none is named', before: [FOREGROUND_FINALIZER], want: [FOREGROUND_FINALIZER] },
    { name: 'drops foregroundDeletion for an explicit Background', before: [FOREGROUND_FINALIZER], policy: 'Background', want: undefined },
    { name: 'drops orphan for an explicit Background', before: ['x/one', ORPHAN_FINALIZER], policy: 'Background', want: ['x/one'] },
    { name: 'adds foregroundDeletion', before: ['x/one'], policy: 'Foreground', want: ['x/one', FOREGROUND_FINALIZER] },
    { name: 'adds orphan', before: [], policy: 'Orphan', want: [ORPHAN_FINALIZER] },
    { name: 'replaces one policy by the other', before: [FOREGROUND_FINALIZER], policy: 'Orphan', want: [ORPHAN_FINALIZER] },
    {
      name: 'leaves the order alone when nothing changes',
      before: [FOREGROUND_FINALIZER, 'x/one'],
      policy: 'Foreground',
      want: [FOREGROUND_FINALIZER, 'x/one'],
    },
  ])('$name', ({ before, policy, want }) => {
    const object = marked(box({ finalizers: before }), policy ? { propagationPolicy: policy } : {}, NOW);
    expect(object?.metadata.finalizers).toEqual(want);
    if (object) expect(object.metadata).toMatchObject({ deletionTimestamp: NOW, deletionGracePeriodSeconds: 0, generation: 4 });
  });

  it('does not move the time or the generation of an object that is being deleted already', () => {
    const first = box({ finalizers: ['x/one'], deletionTimestamp: '2025-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 });
    expect(marked(first, {}, NOW)).toEqual(first);
  });
});

/** As admission leaves an object of a kind that does not count. */
function uncounted(object: KindObject): KindObject {
  const { generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as KindObject['metadata'] };
}

describe('an object without a generation', () => {
  it('gets none, also when one was stored before', () => {
    const changed = box({}, { spec: { size: 2 } });
    for (const current of [box(), uncounted(box())]) {
      expect(withGeneration(current, uncounted(updated(current, changed))).metadata.generation).toBeUndefined();
    }
    expect(marked(uncounted(box({ finalizers: ['x/one'] })), {}, NOW)?.metadata.generation).toBeUndefined();
  });
});

describe('a namespace', () => {
  const namespace = (held: string[], metadata: Partial<KindObject['metadata']> = {}) =>
    box(metadata, { kind: 'Namespace', spec: { finalizers: held }, status: { phase: 'Active' } });

  it('is held by the finalizers of its spec', () => {
    expect(marked(namespace([]), {}, NOW)).toBeUndefined();
    expect(marked(namespace(['kubernetes']), {}, NOW)).toMatchObject({
      metadata: { deletionTimestamp: NOW },
      status: { phase: 'Terminating' },
    });
    expect(isReleased(namespace(['x/y'], { deletionTimestamp: NOW }))).toBe(false);
    expect(isReleased(namespace([], { deletionTimestamp: NOW }))).toBe(true);
  });

  it('takes labels along with a status, but no other identity', () => {
    const next = statusUpdated(namespace([]), namespace([], { labels: { a: 'b' }, uid: 'other', creationTimestamp: 'never' }));
    expect(next.metadata).toEqual({ ...namespace([]).metadata, labels: { a: 'b' } });
  });
});

describe('updated', () => {
  it('takes identity and system metadata from the stored object, whatever the request says', () => {
    const current = box({ deletionTimestamp: NOW, deletionGracePeriodSeconds: 0, finalizers: ['x/one'] }, { status: { seen: 1 } });
    const { deletionTimestamp: _none, ...asked } = current.metadata;
    const metadata = { ...asked, uid: 'other', generation: 99, creationTimestamp: 'never', resourceVersion: '8' };
    const next = updated(current, { ...current, metadata, status: { seen: 2 } });
    expect(next).toEqual(current);
  });

  it('keeps what the server deleted when the request brings a deletionTimestamp of its own', () => {
    expect(updated(box(), box({ deletionTimestamp: NOW })).metadata.deletionTimestamp).toBeUndefined();
  });

  it.each([
    { name: 'a changed spec', next: { spec: { size: 2 } }, generation: 4 },
    { name: 'a spec written anew with the same values', next: { spec: { size: 1 } }, generation: 3 },
    { name: 'a changed status', next: { status: { seen: 1 } }, generation: 3 },
    { name: 'fields of built-in kinds beside spec', next: { reason: 'Started' }, generation: 4 },
  ])('gives generation $generation to $name', ({ next, generation }) => {
    expect(withGeneration(box(), updated(box(), box({}, next))).metadata.generation).toBe(generation);
  });

  it.each([
    { name: 'labels', metadata: { labels: { a: 'b' } } },
    { name: 'finalizers', metadata: { finalizers: ['x/one'] } },
  ])('does not move the generation for $name', ({ metadata }) => {
    expect(withGeneration(box(), updated(box(), box(metadata))).metadata).toMatchObject({ ...metadata, generation: 3 });
  });
});

describe('statusUpdated', () => {
  it('takes nothing but the status and managedFields', () => {
    const managedFields = [
      { manager: 'm', operation: 'Update' as const, apiVersion: 'test/v1', fieldsType: 'FieldsV1' as const, fieldsV1: {} },
    ];
    const next = statusUpdated(box(), box({ labels: { a: 'b' }, managedFields }, { spec: { size: 5 }, status: { seen: 1 } }));
    expect(next).toEqual(box({ managedFields }, { status: { seen: 1 } }));
  });

  it('removes the status when the request has none', () => {
    expect(statusUpdated(box({}, { status: { seen: 1 } }), box())).toEqual(box());
  });
});

describe('isSame', () => {
  const entry = { manager: 'm', operation: 'Update' as const, apiVersion: 'test/v1', fieldsType: 'FieldsV1' as const, fieldsV1: {} };

  it.each([
    { name: 'ignores the version', a: box(), b: box({ resourceVersion: '8' }), want: true },
    {
      name: 'ignores the times in managedFields',
      a: box({ managedFields: [{ ...entry, time: NOW }] }),
      b: box({ managedFields: [{ ...entry, time: 'later' }] }),
      want: true,
    },
    {
      name: 'sees another manager',
      a: box({ managedFields: [entry] }),
      b: box({ managedFields: [{ ...entry, manager: 'n' }] }),
      want: false,
    },
    { name: 'sees a label', a: box(), b: box({ labels: { a: 'b' } }), want: false },
    { name: 'does not tell an absent field from an undefined one', a: box(), b: { ...box(), status: undefined }, want: true },
  ])('$name', ({ a, b, want }) => {
    expect(isSame(a, b)).toBe(want);
  });
});
