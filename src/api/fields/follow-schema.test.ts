import { describe, expect, test } from 'vitest';
import type { FieldSet } from './field-set.ts';
import { typeOf } from './field-type.ts';
import { SCHEMA } from './fields.fixture.ts';
import { followSchema } from './follow-schema.ts';

const spec = typeOf(SCHEMA).map?.fields.get('spec')?.type ?? {};

describe('field sets and the schema of today', () => {
  test.each<[string, FieldSet, FieldSet]>([
    ['pieces of a map that is one leaf now', { 'f:ref': { '.': {}, 'f:name': {} } }, { 'f:ref': {} }],
    ['items of a list that is one leaf now', { 'f:args': { 'v:"a"': {} } }, { 'f:args': {} }],
  ])('%s', (_, set, followed) => {
    expect(followSchema(spec, set)).toEqual(followed);
  });

  test.each<[string, FieldSet]>([
    ['granular maps and lists', { 'f:budget': { 'f:agents': {} }, 'f:members': { 'k:{"name":"p"}': { '.': {}, 'f:name': {} } } }],
    ['a leaf that is granular now', { 'f:budget': {}, 'f:members': {} }],
    ['free content', { 'f:free': { 'f:a': { '.': {}, 'f:b': {} } } }],
    ['fields that are gone', { 'f:gone': { 'f:a': {}, 'v:1': {} } }],
  ])('%s stay as they are', (_, set) => {
    expect(followSchema(spec, set)).toBe(set);
  });
});
