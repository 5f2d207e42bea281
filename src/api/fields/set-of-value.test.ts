import { describe, expect, test } from 'vitest';
import { typeOf } from './field-type.ts';
import { SCHEMA } from './fields.fixture.ts';
import { setOfValue } from './set-of-value.ts';

const spec = typeOf(SCHEMA).map?.fields.get('spec')?.type ?? {};

describe('the fields of a value', () => {
  test.each<[string, unknown, unknown]>([
    ['scalars', { leader: 'a', replicas: 1 }, { 'f:leader': {}, 'f:replicas': {} }],
    ['a null', { until: null, budget: null, members: null }, { 'f:until': {}, 'f:budget': {}, 'f:members': {} }],
    ['an empty map', { budget: {} }, { 'f:budget': {} }],
    ['a granular map', { budget: { agents: 1 } }, { 'f:budget': { 'f:agents': {} } }],
    ['an atomic map', { ref: { kind: 'K', name: 'n' } }, { 'f:ref': {} }],
    ['an atomic list', { args: ['a', 'b'] }, { 'f:args': {} }],
    ['an empty granular list', { members: [] }, {}],
    ['a set', { skills: ['sh', '<'] }, { 'f:skills': { 'v:"sh"': {}, 'v:"\\u003c"': {} } }],
    [
      'a map list',
      { members: [{ name: 'p', weight: 1 }] },
      { 'f:members': { 'k:{"name":"p"}': { '.': {}, 'f:name': {}, 'f:weight': {} } } },
    ],
    ['duplicates', { members: [{ name: 'p', weight: 1 }, { name: 'p' }] }, { 'f:members': { 'k:{"name":"p"}': {} } }],
    ['a defaulted key', { ports: [{ port: 80 }] }, { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } }],
    ['undeclared keys', { env: { A: 'x' } }, { 'f:env': { 'f:A': {} } }],
    ['free content', { free: { a: { b: [1], c: {} } } }, { 'f:free': { 'f:a': { '.': {}, 'f:b': {}, 'f:c': {} } } }],
    ['int or string', { size: '10%' }, { 'f:size': {} }],
  ])('%s', (_, value, set) => {
    expect(setOfValue(spec, value)).toEqual(set);
  });
});
