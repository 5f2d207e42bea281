import { describe, expect, it } from 'vitest';
import { jsonSchemaProblems } from './json-schema-rule.ts';

const at = ['spec', 'roles', 2];
const messages = (inputSchema: unknown) => jsonSchemaProblems({ inputSchema }, undefined, at).map(({ message }) => message);

describe('the schemas of a role', () => {
  it.each([
    { name: 'nothing asked', schema: {} },
    { name: 'a common one', schema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] } },
    { name: 'lists of the older generation', schema: { items: [{ type: 'string' }], additionalItems: false } },
    { name: 'lists of the newer generation', schema: { prefixItems: [{ type: 'string' }], items: false } },
    { name: 'one that says which it is', schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'string' } },
    { name: 'one that says it is older', schema: { $schema: 'http://json-schema.org/draft-07/schema#', items: [true] } },
    { name: 'words of others', schema: { type: 'string', 'x-mine': 1, format: 'colour' } },
  ])('may be $name', ({ schema }) => {
    expect(messages(schema)).toEqual([]);
  });

  it.each([
    {
      name: 'a type that is none',
      schema: { type: 'strng' },
      says: /type must be equal to one of the allowed values: array, boolean, integer/,
    },
    { name: 'required as a word', schema: { properties: { a: { required: 'id' } } }, says: /properties\.a\.required must be array/ },
    { name: 'a version nobody knows', schema: { $schema: 'urn:mine' }, says: /\$schema "urn:mine" is not known; draft-06/ },
    { name: 'a version that is a number', schema: { $schema: 7 }, says: /\$schema must be text/ },
  ])('are refused with $name', ({ schema, says }) => {
    expect(messages(schema)).toEqual([expect.stringMatching(says)]);
  });

  it('are named by their place', () => {
    const problems = jsonSchemaProblems({ inputSchema: { type: 1 }, outputSchema: { type: 2 } }, undefined, at);
    expect(problems.map(({ path }) => path)).toEqual(['spec.roles[2].inputSchema', 'spec.roles[2].outputSchema']);
  });

  it('are not looked at again when they are the stored ones', () => {
    const role = { inputSchema: { type: 'strng' } };
    expect(jsonSchemaProblems(role, role, at)).toEqual([]);
  });
});
