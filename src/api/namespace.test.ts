import { describe, expect, it } from 'vitest';
import type { KindObject } from './meta.ts';
import { CONTENTS_FINALIZER, completeNamespace, heldWhileEnding, hidden, isHeldBySpec, unhidden, withoutContents } from './namespace.ts';

const namespace = (finalizers?: string[], held?: string[]): KindObject =>
  ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 'a', namespace: '', ...(finalizers ? { finalizers } : {}) },
    ...(held ? { spec: { finalizers: held } } : {}),
  }) as KindObject;

describe('a namespace', () => {
  it('that is new is held, whatever holds it besides', () => {
    const made = completeNamespace(namespace(['x/y'], ['a.b/c']), undefined);
    expect(made).toMatchObject({ metadata: { finalizers: ['x/y', CONTENTS_FINALIZER] }, spec: { finalizers: ['a.b/c', 'kubernetes'] } });
    expect(completeNamespace(made, undefined)).toEqual(made);
  });

  it.each([
    ['keeps what holds it when nothing is said of that', undefined, ['kubernetes']],
    ['takes what is said', [], []],
  ])('that exists %s', (_, asked, want) => {
    expect(completeNamespace(namespace([], asked), namespace([], ['kubernetes'])).spec).toEqual({ finalizers: want });
  });

  it('shows nothing of our own finalizer, and loses it to nobody who cannot see it', () => {
    const stored = namespace([CONTENTS_FINALIZER]);
    expect(hidden(stored).metadata).not.toHaveProperty('finalizers');
    expect(unhidden(hidden(stored), stored)).toEqual(stored);
    expect(hidden(namespace(['x/y', CONTENTS_FINALIZER])).metadata.finalizers).toEqual(['x/y']);
    expect(unhidden(namespace(), namespace())).toEqual(namespace());
  });

  it('that ends calls for its controller while something may be in it, and not afterwards', () => {
    const ending = heldWhileEnding(namespace([], ['kubernetes', 'x/y']));
    expect(ending).toMatchObject({ metadata: { finalizers: [CONTENTS_FINALIZER] }, status: { phase: 'Terminating' } });
    const empty = withoutContents(ending);
    expect(empty.spec).toEqual({ finalizers: ['x/y'] });
    expect(heldWhileEnding(empty).metadata).not.toHaveProperty('finalizers');
    expect([ending, empty, withoutContents(namespace([], ['kubernetes']))].map(isHeldBySpec)).toEqual([true, true, false]);
  });
});

it('objects of other kinds are not held by their spec', () => {
  const box = { ...namespace([], ['kubernetes']), kind: 'Box' };
  expect(isHeldBySpec(box)).toBe(false);
  expect(heldWhileEnding(box)).toBe(box);
});
