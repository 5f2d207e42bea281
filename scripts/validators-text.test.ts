import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import { transform } from 'esbuild';
import { beforeAll, describe, expect, it } from 'vitest';
import { withMetadata } from '#api/compile-schema.ts';
import { kinds } from '#api/kinds.ts';
import { validatorOf } from '#api/validators.ts';
import { validatorsText } from './validators-text.ts';

let compiled: { validatorOf(kind: string): ValidateFunction };

beforeAll(async () => {
  const { code } = await transform(validatorsText(), { format: 'cjs' });
  const module = { exports: {} };
  new Function('module', 'require', code)(module, createRequire(import.meta.url));
  compiled = module.exports as typeof compiled;
});

const WRONG = [
  {},
  { metadata: { name: 1, labels: [], finalizers: [2], ownerReferences: [{ controller: 'yes' }] } },
  { spec: 3, status: [], data: { a: 1 }, involvedObject: 'x' },
  { spec: { roles: [{ name: 'UPPER', count: -1, isolation: { driver: 'none' } }], team: '', command: 5, finalizers: [1] } },
  {
    spec: { holderIdentity: 1, acquireTime: 'yesterday' },
    status: { phase: 'Unheard', conditions: [{ type: 1, lastTransitionTime: 'now' }] },
  },
];

describe('validatorsText', () => {
  it.each(kinds)('finds in a $kind what the schema compiled here finds', ({ kind, schema }) => {
    const here = validatorOf(kind, withMetadata(schema));
    const built = compiled.validatorOf(kind);
    for (const object of WRONG) {
      expect(built(object)).toBe(here(object));
      expect(built.errors).toEqual(here.errors);
    }
  });
});
