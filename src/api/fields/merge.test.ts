import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#lib/json.ts';
import { compare } from './compare.ts';
import { typeOf } from './field-type.ts';
import { SCHEMA } from './fields.fixture.ts';
import { merge } from './merge.ts';
import { removeFields } from './remove.ts';
import { setOfValue } from './set-of-value.ts';

const spec = typeOf(SCHEMA).map?.fields.get('spec')?.type ?? {};

describe('merging', () => {
  test.each<[string, unknown, unknown, unknown]>([
    ['the right side wins', { leader: 'a', replicas: 1 }, { leader: 'b' }, { leader: 'b', replicas: 1 }],
    ['a null clears a scalar', { leader: 'a' }, { leader: null }, { leader: null }],
    ['a null does not clear a granular map', { budget: { agents: 1 } }, { budget: null }, { budget: { agents: 1 } }],
    ['a null does not clear a granular list', { skills: ['a'] }, { skills: null }, { skills: ['a'] }],
    ['a null clears an atomic list', { args: ['a'] }, { args: null }, { args: null }],
    ['both empty: the right side', { budget: {} }, { budget: null }, { budget: null }],
    ['an atomic map is replaced', { ref: { kind: 'K', name: 'n' } }, { ref: { name: 'm' } }, { ref: { name: 'm' } }],
    ['free content changes its form', { free: { a: { b: 1 } } }, { free: { a: [1] } }, { free: { a: [1] } }],
    [
      'items merge by key',
      { members: [{ name: 'p', weight: 1 }] },
      { members: [{ name: 'p', tags: ['x'] }] },
      { members: [{ name: 'p', weight: 1, tags: ['x'] }] },
    ],
    [
      'a key in another order of the default',
      { ports: [{ port: 80, protocol: 'TCP', note: 'n' }] },
      { ports: [{ port: 80 }] },
      { ports: [{ port: 80, protocol: 'TCP', note: 'n' }] },
    ],
    [
      'one item replaces duplicates',
      {
        members: [
          { name: 'p', weight: 1 },
          { name: 'p', weight: 2 },
        ],
      },
      { members: [{ name: 'p' }] },
      { members: [{ name: 'p' }] },
    ],
    ['duplicates stay if not mentioned', { skills: ['a', 'a'] }, { skills: ['b'] }, { skills: ['a', 'a', 'b'] }],
  ])('%s', (_, left, right, merged) => {
    expect(merge(spec, left, right)).toEqual(merged);
  });

  test('a key named __proto__ is a key', () => {
    const config: unknown = JSON.parse('{"free":{"__proto__":{"polluted":true}}}');
    const merged = merge(spec, { free: { a: 1 } }, config);
    expect(JSON.stringify(merged)).toBe('{"free":{"a":1,"__proto__":{"polluted":true}}}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(setOfValue(spec, merged)).toEqual({ 'f:free': { 'f:a': {}, 'f:__proto__': { '.': {}, 'f:polluted': {} } } });
    expect(compare(spec, { free: { a: 1 } }, merged).added).toEqual({ 'f:free': { 'f:__proto__': { '.': {}, 'f:polluted': {} } } });
    expect(JSON.stringify(removeFields(spec, merged as JsonObject, { 'f:free': { 'f:a': {} } }))).toBe(
      '{"free":{"__proto__":{"polluted":true}}}',
    );
  });
});
