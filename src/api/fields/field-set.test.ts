import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { difference, type FieldSet, forStore, has, insert, intersection, isEmpty, pathsOf, union } from './field-set.ts';

const a: FieldSet = { 'f:x': { '.': {}, 'f:y': {} }, 'f:z': {} };

describe('sets of fields', () => {
  test.each<[string, FieldSet, FieldSet, FieldSet]>([
    ['keeps the members of both', { 'f:x': { 'f:y': {} } }, { 'f:x': {} }, { 'f:x': { '.': {}, 'f:y': {} } }],
    ['takes what only the other has', {}, { 'f:x': { 'f:y': {} } }, { 'f:x': { 'f:y': {} } }],
    ['a member gets children and stays one', { 'f:x': {} }, { 'f:x': { 'f:y': {} } }, { 'f:x': { '.': {}, 'f:y': {} } }],
    ['non-members stay so', { 'f:x': { 'f:y': {} } }, { 'f:x': { 'f:z': {} } }, { 'f:x': { 'f:y': {}, 'f:z': {} } }],
  ])('union: %s', (_, left, right, both) => {
    expect(union(left, right)).toEqual(both);
  });

  test.each<[string, FieldSet, FieldSet, FieldSet]>([
    ['members of both only', a, { 'f:x': {}, 'f:z': {} }, { 'f:x': {}, 'f:z': {} }],
    ['a path through is no member', { 'f:x': { 'f:y': {} } }, { 'f:x': {} }, {}],
    ['deeper down', a, { 'f:x': { 'f:y': {} } }, { 'f:x': { 'f:y': {} } }],
  ])('intersection: %s', (_, left, right, both) => {
    expect(intersection(left, right)).toEqual(both);
  });

  test.each<[string, FieldSet, FieldSet, FieldSet]>([
    ['does not drop what lies below a member of the other', a, { 'f:x': {} }, { 'f:x': { 'f:y': {} }, 'f:z': {} }],
    ['empty nodes disappear', { 'f:x': { 'f:y': {} } }, { 'f:x': { 'f:y': {} } }, {}],
    ['a member stays when its children go', a, { 'f:x': { 'f:y': {} } }, { 'f:x': {}, 'f:z': {} }],
    ['both go', a, { 'f:x': { '.': {}, 'f:y': {} } }, { 'f:z': {} }],
  ])('difference: %s', (_, left, right, rest) => {
    expect(difference(left, right)).toEqual(rest);
  });

  test('what does not change is the same object', () => {
    expect(union(a, { 'f:z': {} })).toBe(a);
    expect(difference(a, { 'f:q': {}, 'f:z': { 'f:deeper': {} } })).toBe(a);
    const stored = forStore(a);
    expect(forStore(stored)).toBe(stored);
  });

  test('a stored set has its keys in order and one object for its leaves', () => {
    const stored = forStore({ 'k:{"n":1}': {}, 'f:b': { 'f:d': {}, '.': {}, 'f:c': {} } });
    expect(JSON.stringify(stored)).toBe('{"f:b":{".":{},"f:c":{},"f:d":{}},"k:{\\"n\\":1}":{}}');
    expect(stored['k:{"n":1}']).toBe(stored['f:b']?.['f:c']);
    expect(Object.keys(forStore({}))).toEqual([]);
  });

  test('insert makes members of nodes, and nodes of members', () => {
    const draft = {};
    insert(draft, []);
    expect(draft).toEqual({});
    insert(draft, ['f:x', 'f:y']);
    expect(draft).toEqual({ 'f:x': { 'f:y': {} } });
    insert(draft, ['f:x']);
    insert(draft, ['f:x', 'f:y', 'f:z']);
    expect(draft).toEqual({ 'f:x': { '.': {}, 'f:y': { '.': {}, 'f:z': {} } } });
  });

  test('paths are listed members first, in upstream order', () => {
    const set: FieldSet = { 'v:2': {}, 'v:10': {}, 'k:{"n":"a"}': { 'f:q': {} }, 'f:b': { 'f:c': {} }, 'f:d': {} };
    expect(pathsOf(set)).toEqual([['f:d'], ['v:2'], ['v:10'], ['f:b', 'f:c'], ['k:{"n":"a"}', 'f:q']]);
  });

  test('the algebra holds for any sets', () => {
    const element = fc.constantFrom('f:a', 'f:b', 'f:__proto__', 'k:{"n":"x"}', 'v:1');
    const anySet = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 }).map((paths) => {
      const draft = {};
      for (const path of paths) insert(draft, path);
      return draft as FieldSet;
    });
    const members = (set: FieldSet) =>
      pathsOf(set)
        .map((path) => path.join('/'))
        .sort();
    fc.assert(
      fc.property(anySet, anySet, (left, right) => {
        const inRight = (path: string) => has(right, path.split('/'));
        expect(members(union(left, right))).toEqual([...new Set([...members(left), ...members(right)])].sort());
        expect(members(intersection(left, right))).toEqual(members(left).filter(inRight));
        expect(members(difference(left, right))).toEqual(members(left).filter((path) => !inRight(path)));
        expect(isEmpty(difference(left, left))).toBe(true);
      }),
    );
  });
});
