import { describe, expect, test } from 'vitest';
import type { JsonObject } from '#lib/json.ts';
import { typeOf } from './field-type.ts';
import { SCHEMA } from './fields.fixture.ts';
import { removeFields } from './remove.ts';
import { setOfValue } from './set-of-value.ts';

const spec = typeOf(SCHEMA).map?.fields.get('spec')?.type ?? {};

describe('removing', () => {
  test.each<[string, JsonObject, unknown, unknown]>([
    ['a field', { leader: 'a', replicas: 1 }, { leader: 'a' }, { replicas: 1 }],
    ['an item', { members: [{ name: 'p' }, { name: 'q' }] }, { members: [{ name: 'p' }] }, { members: [{ name: 'q' }] }],
    ['all of a map: it becomes null', { budget: { agents: 1 }, leader: 'a' }, { budget: { agents: 1 } }, { budget: null, leader: 'a' }],
    ['all items: the list becomes null', { skills: ['a'] }, { skills: ['a'] }, { skills: null }],
    ['everything: an empty root', { leader: 'a' }, { leader: 'a' }, {}],
    ['what is not there', { leader: 'a' }, { env: { A: 'x' } }, { leader: 'a' }],
  ])('%s', (_, value, gone, rest) => {
    expect(removeFields(spec, value, setOfValue(spec, gone))).toEqual(rest);
  });
});
