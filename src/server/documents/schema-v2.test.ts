import { describe, expect, it } from 'vitest';
import type { Schema } from '#api/schema.ts';
import { type SchemaV2, schemaV2 } from './schema-v2.ts';

describe('schemaV2', () => {
  it.each<[what: string, schema: Schema, want: SchemaV2]>([
    ['keeps what both versions say', { type: 'string', pattern: '^a$', default: '' }, { type: 'string', pattern: '^a$', default: '' }],
    ['leaves open what may be null', { type: 'string', nullable: true, description: 'd' }, { description: 'd' }],
    [
      'drops the parts of what may be null',
      { type: 'object', nullable: true, properties: { a: { type: 'string' } }, maxProperties: 1 },
      { maxProperties: 1 },
    ],
    ['drops the items of a list that may be null', { type: 'array', nullable: true, items: { type: 'string' } }, {}],
    [
      'leaves open what keeps unknown fields',
      { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
      { 'x-kubernetes-preserve-unknown-fields': true },
    ],
    ['gives no type to a list without items', { type: 'array', maxItems: 2 }, { maxItems: 2 }],
    [
      'requires nothing that may be null',
      { type: 'object', required: ['a', 'b'], properties: { a: { type: 'string', nullable: true }, b: { type: 'string' } } },
      { type: 'object', properties: { a: {}, b: { type: 'string' } }, required: ['b'] },
    ],
    [
      'drops the word required when nothing is left of it',
      { type: 'object', required: ['a'], properties: { a: { type: 'string', nullable: true } } },
      { type: 'object', properties: { a: {} } },
    ],
    [
      'takes a property by its name, whatever it is called',
      { type: 'object', properties: { nullable: { type: 'boolean' }, items: { type: 'string' }, $ref: { type: 'string' } } },
      { type: 'object', properties: { nullable: { type: 'boolean' }, items: { type: 'string' }, $ref: { type: 'string' } } },
    ],
    [
      'goes into items and maps',
      { type: 'array', items: { type: 'object', additionalProperties: { type: 'string', nullable: true } } },
      { type: 'array', items: { type: 'object', additionalProperties: {} } },
    ],
    [
      'keeps additionalProperties as a truth value',
      { type: 'object', additionalProperties: false },
      { type: 'object', additionalProperties: false },
    ],
    [
      'refers to definitions, with the description beside the reference',
      { allOf: [{ $ref: '#/components/schemas/x.Time' }], description: 'd' },
      { description: 'd', $ref: '#/definitions/x.Time' },
    ],
    [
      'drops alternatives',
      { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true },
      { 'x-kubernetes-int-or-string': true },
    ],
  ])('%s', (_, schema, want) => {
    expect(schemaV2(schema)).toEqual(want);
  });
});
