import fc from 'fast-check';
import { expect, it } from 'vitest';
import { copyJson, freezeJson } from './json.ts';
import { shareJson } from './share.ts';

it('gives an equal value, made of the parts that the previous one has', () => {
  const previous = freezeJson({ name: 'a', list: [{ x: 1 }, { x: 2 }], map: { k: 'v' }, other: [1, 2, 3] });
  const value = { name: 'b', list: [{ x: 1 }, { x: 3 }], map: { k: 'v' }, other: [1, 2] };
  const shared = shareJson(copyJson(value), previous);
  expect(shared).toEqual(value);
  expect(shared.map).toBe(previous.map);
  expect(shared.list[0]).toBe(previous.list[0]);
  expect(shared.list[1]).not.toBe(previous.list[1]);
});

it('gives the previous value itself when nothing differs', () => {
  const previous = freezeJson({ a: [{ b: null }], c: '' });
  expect(shareJson(copyJson(previous), previous)).toBe(previous);
});

it('never changes what the value says, nor the previous one', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const before = JSON.stringify(b);
      expect(JSON.stringify(shareJson(copyJson(a), freezeJson(copyJson(b))))).toBe(JSON.stringify(a));
      expect(JSON.stringify(b)).toBe(before);
    }),
  );
});

it('keeps the order of keys', () => {
  expect(JSON.stringify(shareJson({ a: 1, b: 2 }, { b: 2, a: 1 }))).toBe('{"a":1,"b":2}');
});
