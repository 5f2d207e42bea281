import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isObject, type JsonObject } from '#lib/json.ts';
import { applyMergePatch, mergePatchBetween, threeWayMergePatch } from './merge-patch.ts';

describe('mergePatchBetween', () => {
  it.each([
    { from: { a: 1 }, to: { a: 1 }, patch: {} },
    { from: { a: 1 }, to: { a: 2, b: 3 }, patch: { a: 2, b: 3 } },
    { from: { a: 1, b: 2 }, to: { a: 1 }, patch: { b: null } },
    { from: { a: { b: 1, c: 2 } }, to: { a: { b: 1 } }, patch: { a: { c: null } } },
    { from: { a: [1, { b: 2 }] }, to: { a: [1, { b: 3 }] }, patch: { a: [1, { b: 3 }] } },
    { from: { a: [1, { b: 2 }] }, to: { a: [1, { b: 2 }] }, patch: {} },
    { from: {}, to: { a: {} }, patch: { a: {} } },
    { from: { a: 'text' }, to: { a: { b: 1 } }, patch: { a: { b: 1 } } },
  ])('from $from to $to is $patch', ({ from, to, patch }) => {
    expect(mergePatchBetween(from, to)).toEqual(patch);
  });

  it('makes the second of the first, whatever they are', () => {
    const leaf = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.array(fc.integer(), { maxLength: 3 }));
    const key = fc.constantFrom('a', 'b', 'c', 'd');
    const value = fc.dictionary(key, fc.oneof(leaf, fc.dictionary(key, fc.oneof(leaf, fc.dictionary(key, leaf)))));
    fc.assert(
      fc.property(value, value, (from, to) => {
        expect(applyMergePatch(from, mergePatchBetween(from, to))).toEqual(to);
      }),
    );
  });
});

describe('threeWayMergePatch', () => {
  it.each([
    { name: 'sets what differs', original: { a: 1 }, modified: { a: 2 }, live: { a: 1 }, patch: { a: 2 } },
    { name: 'leaves what others added', original: { a: 1 }, modified: { a: 1 }, live: { a: 1, b: 2 }, patch: {} },
    { name: 'removes what it had set', original: { a: 1, b: 2 }, modified: { a: 1 }, live: { a: 1, b: 2 }, patch: { b: null } },
    { name: 'removes inside maps', original: { m: { a: 1 } }, modified: { m: {} }, live: { m: { a: 1, z: 0 } }, patch: { m: { a: null } } },
    { name: 'repairs drift', original: { a: 1 }, modified: { a: 1 }, live: { a: 9 }, patch: { a: 1 } },
    { name: 'replaces lists as a whole', original: { l: [1, 2] }, modified: { l: [1] }, live: { l: [1, 2, 3] }, patch: { l: [1] } },
    { name: 'removes nothing when it does not know', original: undefined, modified: { a: 1 }, live: { a: 1, b: 2 }, patch: {} },
    { name: 'keeps an empty map that is a value', original: undefined, modified: { m: {} }, live: {}, patch: { m: {} } },
    { name: 'removes what is null', original: undefined, modified: { a: null }, live: { a: 1 }, patch: { a: null } },
    { name: 'does not remove twice', original: { a: null }, modified: { a: null }, live: {}, patch: {} },
    {
      name: 'sets and removes at once',
      original: { m: { a: 1, b: 1 } },
      modified: { m: { b: 2 } },
      live: { m: { a: 1, b: 1, c: 1 } },
      patch: { m: { a: null, b: 2 } },
    },
  ])('$name', ({ original, modified, live, patch }) => {
    expect(threeWayMergePatch({ original, modified, live })).toEqual(patch);
  });

  it('gives, once applied, everything that is wanted, and then has nothing more to do', () => {
    const map = fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      fc.oneof(fc.integer(), fc.dictionary(fc.constantFrom('x', 'y'), fc.integer())),
    );
    fc.assert(
      fc.property(map, map, map, (original, modified, live) => {
        const after = applyMergePatch(live, threeWayMergePatch({ original, modified, live })) as JsonObject;
        for (const [key, value] of Object.entries(modified)) {
          expect(after[key]).toEqual(isObject(value) ? expect.objectContaining(value) : value);
        }
        expect(threeWayMergePatch({ original: modified, modified, live: after })).toEqual({});
      }),
    );
  });
});
