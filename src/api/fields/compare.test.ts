import { describe, expect, test } from 'vitest';
import { compare } from './compare.ts';
import { typeOf } from './field-type.ts';
import { SCHEMA } from './fields.fixture.ts';

const spec = typeOf(SCHEMA).map?.fields.get('spec')?.type ?? {};

describe('comparing', () => {
  test.each<[string, unknown, unknown, { added?: unknown; removed?: unknown; modified?: unknown }]>([
    ['nothing', { leader: 'a', members: [{ name: 'p' }] }, { leader: 'a', members: [{ name: 'p' }] }, {}],
    [
      'scalars',
      { leader: 'a', replicas: 1 },
      { leader: 'b', paused: true },
      { added: { 'f:paused': {} }, removed: { 'f:replicas': {} }, modified: { 'f:leader': {} } },
    ],
    ['a map that comes', {}, { budget: { agents: 1 } }, { added: { 'f:budget': { '.': {}, 'f:agents': {} } } }],
    ['a map that goes', { budget: { agents: 1 } }, {}, { removed: { 'f:budget': { '.': {}, 'f:agents': {} } } }],
    ['empty and null differ', { budget: {} }, { budget: null }, { modified: { 'f:budget': {} } }],
    ['an empty map is filled', { budget: {} }, { budget: { agents: 1 } }, { added: { 'f:budget': { 'f:agents': {} } } }],
    ['atomic', { ref: { kind: 'K' }, args: [] }, { ref: { kind: 'L' }, args: ['a'] }, { modified: { 'f:ref': {}, 'f:args': {} } }],
    ['items moved', { skills: ['a', 'b'] }, { skills: ['b', 'a'] }, {}],
    [
      'items',
      { members: [{ name: 'p' }, { name: 'q' }] },
      { members: [{ name: 'q', weight: 1 }] },
      {
        added: { 'f:members': { 'k:{"name":"q"}': { 'f:weight': {} } } },
        removed: { 'f:members': { 'k:{"name":"p"}': { '.': {}, 'f:name': {} } } },
      },
    ],
    ['duplicates on both sides', { skills: ['a', 'a'] }, { skills: ['a', 'a', 'a'] }, { modified: { 'f:skills': { 'v:"a"': {} } } }],
    [
      'duplicates gone',
      { members: [{ name: 'p' }, { name: 'p' }] },
      { members: [{ name: 'p' }] },
      { removed: { 'f:members': { 'k:{"name":"p"}': {} } }, added: { 'f:members': { 'k:{"name":"p"}': { '.': {}, 'f:name': {} } } } },
    ],
    [
      'duplicates new',
      { members: [{ name: 'p' }] },
      { members: [{ name: 'p' }, { name: 'p' }] },
      { added: { 'f:members': { 'k:{"name":"p"}': {} } }, removed: { 'f:members': { 'k:{"name":"p"}': { '.': {}, 'f:name': {} } } } },
    ],
    [
      'another form',
      { free: { a: { b: 1 } } },
      { free: { a: 'x' } },
      { modified: { 'f:free': { 'f:a': {} } }, removed: { 'f:free': { 'f:a': { 'f:b': {} } } } },
    ],
  ])('%s', (_, left, right, { added = {}, removed = {}, modified = {} }) => {
    expect(compare(spec, left, right)).toEqual({ added, removed, modified });
  });
});
