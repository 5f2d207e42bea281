import { describe, expect, test } from 'vitest';
import { decodeFields } from './fields-v1.ts';

describe('reading field sets', () => {
  test('what is canonical comes back as the same object', () => {
    const fields = { 'f:spec': { '.': {}, 'f:a': {}, 'k:{"a":1,"b":"x"}': { '.': {}, 'f:b': {} }, 'v:"sh"': {} } };
    expect(decodeFields(fields)).toBe(fields);
  });

  test.each<[string, unknown, unknown]>([
    ['one spelling of keys', { 'k:{ "b": 1, "a": "<" }': {} }, { 'k:{"a":"\\u003c","b":1}': {} }],
    ['one spelling of values', { 'v: 1.0': {} }, { 'v:1': {} }],
    ['one spelling of indexes', { 'i:+03': {} }, { 'i:3': {} }],
    ['kinds of elements that we do not know are left out', { 'x:y': {}, 'f:a': {} }, { 'f:a': {} }],
    ['the root is never a member', { '.': {}, 'f:a': {} }, { 'f:a': {} }],
    ['nothing but a dot is a plain member', { 'f:a': { '.': {} } }, { 'f:a': {} }],
    ['null is a plain member', { 'f:a': null }, { 'f:a': {} }],
    ['no fields', null, {}],
    ['a node that holds only unknown elements is a member', { 'f:a': { 'x:y': {} } }, { 'f:a': {} }],
    ['what the dot says does not matter', { 'f:a': { '.': 5, 'f:b': {} } }, { 'f:a': { '.': {}, 'f:b': {} } }],
  ])('%s', (_, given, read) => {
    expect(decodeFields(given)).toEqual(read);
  });

  test('a key that every object inherits stays a key', () => {
    const fields: unknown = JSON.parse('{"f:__proto__":{"f:polluted":{}},"f:constructor":{}}');
    expect(Object.keys(decodeFields(fields))).toEqual(['f:__proto__', 'f:constructor']);
    expect(decodeFields({ 'k:{"__proto__":"x"}': { '.': {} } })).toEqual({ 'k:{"__proto__":"x"}': {} });
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  test.each<[string, unknown]>([
    ['a list', []],
    ['a text', 'f:a'],
    ['a scalar below', { 'f:a': 1 }],
    ['no colon', { fa: {} }],
    ['too short', { f: {} }],
    ['a bare __proto__', JSON.parse('{"__proto__":{"f:a":{}}}')],
    ['keys that are no JSON', { 'k:{name}': {} }],
    ['keys that are no map', { 'k:["a"]': {} }],
    ['a value that is no JSON', { 'v:sh': {} }],
    ['an index that is none', { 'i:x': {} }],
  ])('refuses %s', (_, fields) => {
    expect(() => decodeFields(fields)).toThrow(SyntaxError);
  });

  test('refuses what is nested without end', () => {
    let fields: unknown = {};
    for (let depth = 0; depth < 100_000; depth++) fields = { 'f:a': fields };
    expect(() => decodeFields(fields)).toThrow(SyntaxError);
  });
});
