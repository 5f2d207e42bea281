/** What Kubernetes would refuse or a reader would miss in crds/, found without a cluster. */
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { crds } from './generated/schemas.ts';
import type { Schema } from './schema.ts';

/** A structural schema may not use them at all, or not below the root. */
const FORBIDDEN = [
  '$ref',
  '$schema',
  '$id',
  'definitions',
  'dependencies',
  'id',
  'patternProperties',
  'uniqueItems',
  'deprecated',
  'discriminator',
  'readOnly',
  'writeOnly',
  'xml',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'exclusiveMinimum',
  'exclusiveMaximum',
];
const STANDARD_PATHS = ['.metadata.name', '.metadata.creationTimestamp'];

interface Place {
  readonly path: string;
  readonly schema: Schema;
}

function* placesIn(schema: Schema, path = ''): Iterable<Place> {
  yield { path, schema };
  for (const [key, member] of Object.entries(schema.properties ?? {})) yield* placesIn(member, `${path}.${key}`);
  if (schema.items) yield* placesIn(schema.items, `${path}[]`);
  if (typeof schema.additionalProperties === 'object') yield* placesIn(schema.additionalProperties, `${path}{}`);
}

function schemaAt(root: Schema, jsonPath: string): Schema | undefined {
  let at: Schema | undefined = root;
  for (const segment of jsonPath
    .replace(/\[\?\([^)]*\)\]/g, '.[]')
    .split('.')
    .slice(1)) {
    at = segment === '[]' ? at?.items : at?.properties?.[segment];
  }
  return at;
}

const cases = crds.map((crd) => {
  const [version] = crd.spec.versions;
  if (!version) throw new Error(`${crd.metadata.name} has no version`);
  const root = version.schema.openAPIV3Schema;
  return { kind: crd.spec.names.kind, crd, version, root, places: [...placesIn(root)] };
});

it('are the five kinds', () => {
  expect(cases.map(({ kind }) => kind)).toEqual(['Team', 'Agent', 'Task', 'Merge', 'Snapshot']);
});

describe.each(cases)('the CRD of $kind', ({ crd, version, root, places }) => {
  it('is named as Kubernetes wants it and has a status of its own', () => {
    const { group, names, scope } = crd.spec;
    expect(crd.metadata.name).toBe(`${names.plural}.${group}`);
    expect(names.listKind).toBe(`${names.kind}List`);
    expect({ scope, categories: names.categories, served: version.served, storage: version.storage }).toEqual({
      scope: 'Namespaced',
      categories: ['all', 'agentiso'],
      served: true,
      storage: true,
    });
    expect(version.subresources).toEqual({ status: {} });
  });

  it('is a JSON Schema: the daemon does not ask again', () => {
    const ajv = new Ajv({ strict: false });
    expect(ajv.validateSchema(root), JSON.stringify(ajv.errors)).toBe(true);
  });

  it('describes every field but metadata, which Kubernetes describes itself', () => {
    const named = places.filter(({ path }) => path !== '.metadata' && !path.endsWith('[]') && !path.endsWith('{}'));
    expect(named.filter(({ schema }) => !schema.description).map(({ path }) => path)).toEqual([]);
    expect(root.properties?.['metadata']).toEqual({ type: 'object' });
  });

  it('is structural: every place has a type and no place a forbidden keyword', () => {
    expect(places.filter(({ schema }) => schema.type === undefined).map(({ path }) => path)).toEqual([]);
    const forbidden = places.flatMap(({ path, schema }) =>
      FORBIDDEN.filter((keyword) => keyword in schema).map((keyword) => `${path} ${keyword}`),
    );
    expect(forbidden).toEqual([]);
    const both = places.filter(({ schema }) => schema.properties && schema.additionalProperties !== undefined);
    expect(both.map(({ path }) => path)).toEqual([]);
    const required = places.flatMap(({ path, schema }) =>
      (schema.required ?? []).filter((key) => !schema.properties?.[key]).map((key) => `${path}.${key}`),
    );
    expect(required).toEqual([]);
  });

  it('says of every list how it is merged, with keys that every entry has and of which none can be missing', () => {
    const problems = places.flatMap(({ path, schema }) => (schema.type === 'array' ? listProblems(path, schema) : []));
    expect(problems).toEqual([]);
  });

  it('has defaults that are valid where they stand, and none for required fields', () => {
    const problems = places.flatMap(({ path, schema }) => {
      const wrongType = schema.default !== undefined && typeOf(schema.default) !== schema.type && !(schema.type === 'number');
      const outside = schema.default !== undefined && schema.enum && !schema.enum.includes(schema.default);
      const required = (schema.required ?? []).filter((key) => schema.properties?.[key]?.default !== undefined);
      return [...(wrongType || outside ? [path] : []), ...required.map((key) => `${path}.${key}`)];
    });
    expect(problems).toEqual([]);
  });

  it('bounds everything a person can write, so that rules stay cheap and a file readable', () => {
    const open = places.filter(({ path, schema }) => {
      if (!path.startsWith('.spec') || schema['x-kubernetes-preserve-unknown-fields']) return false;
      if (schema.type === 'string') return !schema.enum && schema['maxLength'] === undefined && schema['pattern'] === undefined;
      if (schema.type === 'array') return schema['maxItems'] === undefined;
      if (schema.type === 'integer') return schema['minimum'] === undefined || schema['maximum'] === undefined;
      return schema.additionalProperties !== undefined && schema['maxProperties'] === undefined;
    });
    expect(open.map(({ path }) => path)).toEqual([]);
  });

  it('has printer columns that lead to a field of their type, Age last', () => {
    const columns = version.additionalPrinterColumns ?? [];
    const lost = columns.filter(({ jsonPath, type }) => {
      if (STANDARD_PATHS.includes(jsonPath)) return false;
      const found = schemaAt(root, jsonPath);
      if (type === 'date') return found?.format !== 'date-time';
      return type === 'string' ? !['string', 'array'].includes(found?.type ?? '') : found?.type !== type;
    });
    expect(lost.map(({ name }) => name)).toEqual([]);
    expect(columns.at(-1)).toMatchObject({ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' });
    expect(columns.filter(({ description, name }) => !description && name !== 'Age')).toEqual([]);
    expect(new Set(columns.map(({ name }) => name)).size).toBe(columns.length);
  });

  it('selects by scalar fields that exist', () => {
    const fields = version.selectableFields ?? [];
    expect(fields.length).toBeGreaterThan(0);
    expect(fields.length).toBeLessThanOrEqual(8);
    for (const { jsonPath } of fields) expect(['string', 'boolean', 'integer']).toContain(schemaAt(root, jsonPath)?.type);
  });

  it('has a message for every rule, and points its fieldPath at a field below the rule', () => {
    const problems = places.flatMap(({ path, schema }) =>
      (schema['x-kubernetes-validations'] ?? [])
        .filter(({ message, fieldPath }) => !message || message.includes('\n') || (fieldPath !== undefined && !schemaAt(schema, fieldPath)))
        .map(({ rule }) => `${path}: ${rule}`),
    );
    expect(problems).toEqual([]);
  });

  it('has the same conditions as every other kind', () => {
    const of = (schema: Schema | undefined) => schema?.properties?.['status']?.properties?.['conditions']?.items;
    expect(of(root)).toEqual(of(cases[0]?.root));
  });
});

function listProblems(path: string, schema: Schema): string[] {
  const type = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  if (type === undefined) return [`${path}: no list type`];
  if (type === 'set') return schema.items?.type === 'object' || schema.items?.type === 'array' ? [`${path}: a set of non-scalars`] : [];
  if (type !== 'map') return [];
  const missing = keys.filter((key) => !schema.items?.required?.includes(key) && schema.items?.properties?.[key]?.default === undefined);
  return keys.length === 0 || missing.length > 0 ? [`${path}: map keys ${keys.join(', ')}`] : [];
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

interface Shared {
  readonly inTeam: string;
  readonly kind: string;
  readonly only: readonly string[];
  /** The team may say nothing, and then the default of the other counts. */
  readonly leftOpen: readonly string[];
}

describe('what two CRDs say twice, for want of a $ref', () => {
  const specOf = (kind: string) => cases.find((each) => each.kind === kind)?.root.properties?.['spec']?.properties ?? {};

  /** Everything but the words. */
  const shape = (schema: Schema): unknown =>
    JSON.parse(JSON.stringify(schema, (key, value: unknown) => (key === 'description' && typeof value === 'string' ? undefined : value)));

  it.each([
    { inTeam: 'tasks', kind: 'Task', only: ['team', 'request'], leftOpen: [] },
    {
      inTeam: 'roles',
      kind: 'Agent',
      only: ['team', 'desiredState', 'source', 'restore', 'roleName', 'isolation'],
      leftOpen: ['maxConcurrentTasks'],
    },
  ])('is the same in Team.spec.$inTeam and $kind.spec', ({ inTeam, kind, only, leftOpen }: Shared) => {
    const entry = specOf('Team')[inTeam]?.items?.properties ?? {};
    const own = specOf(kind);
    const shared = Object.keys(own).filter((key) => !only.includes(key));
    expect(
      Object.keys(entry)
        .filter((key) => key !== 'name' && key !== 'count')
        .sort(),
    ).toEqual([...shared].sort());
    for (const key of shared) {
      const { default: usual, ...rest } = own[key] ?? {};
      const expected = leftOpen.includes(key) ? rest : own[key];
      expect(leftOpen.includes(key) && usual === undefined, key).toBe(false);
      expect({ [key]: shape(entry[key] ?? {}) }).toEqual({ [key]: shape(expected ?? {}) });
    }
  });
});
