import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyJson, definedKeys, equalJson, formatPath, freezeJson, type JsonPath, valueAt } from './json.ts';

const json = fc.jsonValue({ maxDepth: 3 });

describe('copyJson and equalJson', () => {
  it('make an equal value that shares nothing', () => {
    fc.assert(
      fc.property(json, (value) => {
        const copy = copyJson(value);
        expect(equalJson(copy, value)).toBe(true);
        freezeJson(value);
        if (typeof copy === 'object' && copy !== null) expect(Object.isFrozen(copy)).toBe(false);
      }),
    );
  });

  it('agree with what JSON itself says about equality', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const sorted = (value: unknown): unknown =>
          Array.isArray(value)
            ? value.map(sorted)
            : value && typeof value === 'object'
              ? Object.fromEntries(
                  Object.entries(value)
                    .sort(([one], [other]) => (one < other ? -1 : 1))
                    .map(([key, member]) => [key, sorted(member)]),
                )
              : value;
        expect(equalJson(a, b)).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
      }),
    );
  });

  it.each<[a: unknown, b: unknown, want: boolean]>([
    [{ a: 1, b: undefined }, { a: 1 }, true],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [[1, 2], [2, 1], false],
    [[], {}, false],
    [null, {}, false],
    [null, undefined, false],
    [{ a: undefined }, { b: undefined }, true],
    [{ toString: 1 }, {}, false],
  ])('%j and %j: %s', (a, b, want) => {
    expect([equalJson(a, b), equalJson(b, a)]).toEqual([want, want]);
  });

  it('leave out what is undefined', () => {
    expect(Object.keys(copyJson({ a: undefined, b: { c: undefined } }))).toEqual(['b']);
    expect(definedKeys({ a: undefined, b: null })).toEqual(['b']);
  });
});

describe('paths', () => {
  it.each<[path: JsonPath, text: string, value: unknown]>([
    [[], '', { a: [{ 'x/y': 1 }], 'b-c': null }],
    [['a', 0, 'x/y'], 'a[0][x/y]', 1],
    [['b-c'], 'b-c', null],
    [['a', 1], 'a[1]', undefined],
    [['a', 'length'], 'a.length', undefined],
    [['b-c', 'd'], 'b-c.d', undefined],
  ])('%j is written %s', (path, text, value) => {
    expect([formatPath(path), valueAt({ a: [{ 'x/y': 1 }], 'b-c': null }, path)]).toEqual([text, value]);
  });
});
