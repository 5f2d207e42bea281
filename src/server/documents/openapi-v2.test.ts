import { describe, expect, it } from 'vitest';
import { isObject } from '#lib/json.ts';
import { openApiV2, swagger } from './openapi-v2.ts';
import type { SchemaV2 } from './schema-v2.ts';

const document = openApiV2(swagger());

function schemasIn(schema: SchemaV2): SchemaV2[] {
  const { properties, items, additionalProperties } = schema;
  const parts = [...Object.values(isObject(properties) ? properties : {}), items, additionalProperties];
  return [schema, ...parts.filter(isObject).flatMap(schemasIn)];
}

const schemas = Object.entries(document.definitions).flatMap(([name, schema]) => schemasIn(schema).map((part) => ({ name, part })));

describe('the Swagger document', () => {
  it('refers only to definitions it has', () => {
    const targets = [...JSON.stringify(document).matchAll(/"\$ref":"#\/definitions\/([^"]+)"/g)].map(([, name]) => name ?? '');
    expect(targets.length).toBeGreaterThan(100);
    expect(targets.filter((name) => !(name in document.definitions))).toEqual([]);
    expect(JSON.stringify(document)).not.toContain('#/components');
  });

  it('uses no word that Swagger does not know', () => {
    const unknown = ['nullable', 'allOf', 'anyOf', 'oneOf', 'not'];
    expect(schemas.filter(({ part }) => unknown.some((word) => word in part))).toEqual([]);
  });

  it('gives a reference nothing but a description, and a list its items: kubectl refuses the whole document otherwise', () => {
    const references = schemas.filter(({ part }) => '$ref' in part);
    expect(references.length).toBeGreaterThan(20);
    for (const { part } of references) expect(['$ref', 'description']).toEqual(expect.arrayContaining(Object.keys(part)));
    expect(schemas.filter(({ part }) => part['type'] === 'array' && !part['items'])).toEqual([]);
  });

  it('keeps the words of Kubernetes', () => {
    const words = new Set(schemas.flatMap(({ part }) => Object.keys(part)).filter((word) => word.startsWith('x-')));
    expect([...words]).toEqual(
      expect.arrayContaining([
        'x-kubernetes-group-version-kind',
        'x-kubernetes-list-map-keys',
        'x-kubernetes-list-type',
        'x-kubernetes-map-type',
        'x-kubernetes-preserve-unknown-fields',
        'x-kubernetes-validations',
      ]),
    );
  });

  it('has the operations of all groups', () => {
    const path = document.paths['/apis/agentiso.dev/v1alpha1/namespaces/{namespace}/teams/{name}'];
    expect(path).toMatchObject({
      patch: {
        consumes: ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml'],
        'x-kubernetes-group-version-kind': { group: 'agentiso.dev', version: 'v1alpha1', kind: 'Team' },
      },
      parameters: [{ name: 'name', in: 'path', required: true }, { name: 'namespace' }, { name: 'pretty', in: 'query' }],
    });
    expect(document.paths).toHaveProperty(['/api/v1/namespaces', 'get']);
  });
});
