/** The schemas of the served kinds and of their lists, as an OpenAPI document names and frames them. */
import type { Schema } from '#api/schema.ts';
import { qualifiedName, type Resource } from '../resources.ts';
import { computedSchemas } from './computed-schemas.ts';
import type { GroupVersion } from './groups.ts';
import { LIST_ITEMS_INFO, LIST_META_PROPERTY, metaSchemas, OBJECT_META_PROPERTY, TYPE_META } from './meta-schemas.ts';
import { metaModel, modelName, reference, referredModel } from './model-names.ts';

export type Models = ReadonlyMap<string, Schema>;

function framed({ group, version, stored }: Resource, kind: string): Schema {
  const fields = stored?.crd ? stored.selectableFields : [];
  return {
    'x-kubernetes-group-version-kind': [{ group, kind, version }],
    ...(fields.length > 0 && { 'x-kubernetes-selectable-fields': fields.map((fieldPath) => ({ fieldPath })) }),
  };
}

function objectSchema(resource: Resource): Schema {
  const own = computedSchemas[qualifiedName(resource)] ?? resource.schema ?? { type: 'object' };
  return { ...own, properties: { ...own.properties, ...TYPE_META, metadata: OBJECT_META_PROPERTY }, ...framed(resource, resource.kind) };
}

function listSchema(resource: Resource): Schema {
  const { listKind, kind, plural } = resource;
  return {
    description: `${listKind} is a list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      ...TYPE_META,
      items: {
        description: `List of ${plural}. More info: ${LIST_ITEMS_INFO}`,
        type: 'array',
        items: reference(modelName(resource, kind)),
      },
      metadata: LIST_META_PROPERTY,
    },
    ...framed(resource, listKind),
  };
}

/** Every model that a schema refers to. */
function referred(schema: Schema): readonly string[] {
  const model = referredModel(schema);
  const parts = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(typeof schema.additionalProperties === 'object' ? [schema.additionalProperties] : []),
    ...((schema['allOf'] as readonly Schema[] | undefined) ?? []),
  ];
  return [...(model === undefined ? [] : [model]), ...parts.flatMap(referred)];
}

function addReferred(models: Map<string, Schema>, schema: Schema): void {
  for (const name of referred(schema)) {
    const shared = metaSchemas.get(name);
    if (!shared || models.has(name)) continue;
    models.set(name, shared);
    addReferred(models, shared);
  }
}

/** What the operations of any resource refer to. */
const OF_OPERATIONS = ['DeleteOptions', 'Patch', 'Status'].map((name) => reference(metaModel(name)));

/** The models of the kinds of some versions and all that they refer to, sorted by name. */
export function modelsOf(versions: readonly GroupVersion[]): Models {
  const models = new Map<string, Schema>();
  for (const resource of versions.flatMap(({ resources }) => resources)) {
    models.set(modelName(resource, resource.kind), objectSchema(resource));
    if (resource.verbs.includes('list')) models.set(modelName(resource, resource.listKind), listSchema(resource));
  }
  for (const schema of [...models.values(), ...OF_OPERATIONS]) addReferred(models, schema);
  return new Map([...models].sort(([a], [b]) => Number(a > b) - Number(a < b)));
}
