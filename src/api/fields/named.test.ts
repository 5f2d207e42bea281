import { expect, test } from 'vitest';
import { typeOf } from './field-type.ts';
import { SCHEMA } from './fields.fixture.ts';
import { withNamedFields } from './named.ts';
import { setOfValue } from './set-of-value.ts';

const spec = typeOf(SCHEMA).map?.fields.get('spec')?.type ?? {};

test('declared fields with children count as owned; items and free keys do not', () => {
  const set = setOfValue(spec, { budget: { agents: 1 }, members: [{ name: 'p' }], env: { A: 'x' }, free: { a: { b: 1 } } });
  expect(withNamedFields(spec, set)).toEqual({
    'f:budget': { '.': {}, 'f:agents': {} },
    'f:env': { '.': {}, 'f:A': {} },
    'f:free': { '.': {}, 'f:a': { '.': {}, 'f:b': {} } },
    'f:members': { '.': {}, 'k:{"name":"p"}': { '.': {}, 'f:name': {} } },
  });
  expect(withNamedFields(spec, { 'f:members': { 'k:{"name":"p"}': { 'f:tags': { 'v:"x"': {} } } } })).toEqual({
    'f:members': { '.': {}, 'k:{"name":"p"}': { 'f:tags': { '.': {}, 'v:"x"': {} } } },
  });
});
