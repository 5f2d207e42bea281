import { describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import type { JsonObject } from '#lib/json.ts';
import { mergeEdit } from './merge.ts';
import { asDraft, editablePart, fileView, withEditablePart } from './view.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const MANAGED = [{ manager: 'kubectl', operation: 'Apply' as const, apiVersion: 'test/v1', fieldsType: 'FieldsV1' as const, fieldsV1: {} }];

function box(metadata: Partial<KindObject['metadata']> = {}, rest: Partial<KindObject> = {}): KindObject {
  const base = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '7', generation: 3, creationTimestamp: 'then' };
  return { apiVersion: 'test/v1', kind: 'Box', metadata: { ...base, ...metadata }, spec: { size: 1 }, ...rest };
}

describe('fileView', () => {
  it.each([
    {
      name: 'is the object itself when there is nothing to hide',
      object: box({ annotations: { a: 'b' } }),
      want: box({ annotations: { a: 'b' } }),
    },
    { name: 'hides managedFields', object: box({ managedFields: MANAGED }), want: box() },
    {
      name: 'hides the copy of kubectl, and the map that it leaves empty',
      object: box({ annotations: { [LAST_APPLIED]: '{}' } }),
      want: box(),
    },
    {
      name: 'keeps the annotations beside it',
      object: box({ annotations: { a: 'b', [LAST_APPLIED]: '{}' }, managedFields: MANAGED }),
      want: box({ annotations: { a: 'b' } }),
    },
  ])('$name', ({ object, want }) => {
    expect(fileView(object)).toEqual(want);
  });

  it('costs nothing when there is nothing to hide', () => {
    const object = box({ labels: { a: 'b' } });
    expect(fileView(object)).toBe(object);
  });
});

describe('editablePart', () => {
  it('leaves out identity, what the system sets, status, and what the file does not show', () => {
    const metadata = { labels: { l: '1' }, annotations: { a: '1', [LAST_APPLIED]: '{}' }, finalizers: ['x/y'], managedFields: MANAGED };
    expect(editablePart(box(metadata, { status: { seen: 1 } }))).toEqual({
      metadata: { labels: { l: '1' }, annotations: { a: '1' }, finalizers: ['x/y'] },
      spec: { size: 1 },
    });
  });

  it('has no annotations when none of them are to be seen', () => {
    expect(editablePart(box({ annotations: { [LAST_APPLIED]: '{}' } }))).toEqual({ metadata: {}, spec: { size: 1 } });
  });

  it('copes with a document that has no metadata', () => {
    expect(editablePart({ kind: 'Box' })).toEqual({ metadata: {} });
  });
});

describe('withEditablePart', () => {
  it('puts back what it took out', () => {
    const object = box(
      { labels: { l: '1' }, annotations: { a: '1', [LAST_APPLIED]: '{}' }, managedFields: MANAGED },
      { status: { seen: 1 } },
    );
    expect(withEditablePart(object, editablePart(object))).toEqual(object);
  });

  it('removes what the part does not have, and keeps what it cannot know', () => {
    const object = box({ labels: { l: '1' }, annotations: { a: '1', [LAST_APPLIED]: '{}' }, managedFields: MANAGED });
    expect(withEditablePart(object, { metadata: {}, spec: { size: 2 } })).toEqual(
      box({ annotations: { [LAST_APPLIED]: '{}' }, managedFields: MANAGED }, { spec: { size: 2 } }),
    );
  });

  it('lets a person remove the last annotation they can see', () => {
    const stored = box({ annotations: { note: 'x', [LAST_APPLIED]: '{}' } });
    const merged = mergeEdit(editablePart(fileView(stored)), editablePart(box()), editablePart(stored));
    expect(merged.conflicts).toEqual([]);
    expect(withEditablePart(stored, merged.value as JsonObject)).toEqual(box({ annotations: { [LAST_APPLIED]: '{}' } }));
  });
});

describe('asDraft', () => {
  it('frees a copied file of the identity of its original', () => {
    const copied = box(
      { name: 'original', labels: { l: '1' }, deletionTimestamp: 'now', annotations: { [LAST_APPLIED]: '{}' } },
      { status: { seen: 1 } },
    );
    expect(asDraft(copied as unknown as JsonObject, 'other', 'copy')).toEqual({
      apiVersion: 'test/v1',
      kind: 'Box',
      metadata: { name: 'copy', namespace: 'other', labels: { l: '1' } },
      spec: { size: 1 },
    });
  });
});
