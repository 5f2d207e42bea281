import { describe, expect, it } from 'vitest';
import { prune } from './prune.ts';
import type { Schema } from './schema.ts';

const schema: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    roles: { type: 'array', items: { type: 'object', properties: { count: { type: 'integer' } } } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { known: { type: 'object', properties: {} } } },
    open: { type: 'object' },
  },
};

describe('prune', () => {
  it('cuts what the schema does not know and says where it stood', () => {
    const value = { name: 'a', extra: 1, roles: [{ count: 1 }, { count: 2, cuont: 3 }], labels: { any: 'x' } };
    expect(prune(schema, value)).toEqual({
      value: { name: 'a', roles: [{ count: 1 }, { count: 2 }], labels: { any: 'x' } },
      unknown: ['extra', 'roles[1].cuont'],
    });
    expect(value).toHaveProperty('extra');
  });

  it('returns the very same value when there is nothing to cut', () => {
    const value = { name: 'a', roles: [{ count: 1 }], open: { anything: [1] } };
    expect(prune(schema, value).value).toBe(value);
  });

  it('keeps everything where unknown fields are kept, and looks into what is known there', () => {
    expect(prune(schema, { free: { other: { deep: 1 }, known: { cut: 1 } } })).toEqual({
      value: { free: { other: { deep: 1 }, known: {} } },
      unknown: ['free.known.cut'],
    });
  });

  it('leaves values of the wrong type for validation to complain about', () => {
    expect(prune(schema, { roles: 'many', name: [1] })).toEqual({ value: { roles: 'many', name: [1] }, unknown: [] });
  });
});
