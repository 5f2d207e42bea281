/**
 * Schemas in Swagger 2.0, which knows less than OpenAPI 3.0. Kubernetes weakens schemas the same way: what cannot be said is left open, so
 * that a client never refuses what the server would take.
 */
import type { Schema } from '#api/schema.ts';
import { referredModel } from './model-names.ts';

export type SchemaV2 = Readonly<Record<string, unknown>>;

const UNKNOWN_TO_V2 = ['nullable', 'allOf', 'anyOf', 'oneOf', 'not', '$ref'];

function soleReference(schema: Schema): Schema | undefined {
  if (schema['$ref'] !== undefined) return schema;
  const [only, ...others] = (schema['allOf'] as readonly Schema[] | undefined) ?? [];
  return only && others.length === 0 && only['$ref'] !== undefined ? only : undefined;
}

/** Clients cannot cope with a type that admits null, nor with parts of a type that admits anything. */
function openWords(schema: Schema): readonly string[] {
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (schema.nullable) return ['type', 'items', 'properties'];
  if (isOpen && (schema.type === 'object' || schema.type === 'array')) return ['type', 'items', 'properties'];
  if (isOpen) return ['items', 'properties'];
  return schema.type === 'array' && !schema.items ? ['type'] : [];
}

function requiredOf({ required, properties }: Schema): readonly string[] {
  return (required ?? []).filter((name) => !properties?.[name]?.nullable);
}

function mapped(schemas: Readonly<Record<string, Schema>>): Readonly<Record<string, SchemaV2>> {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schemaV2(schema)]));
}

function converted(schema: Schema): SchemaV2 {
  const { properties, items, additionalProperties } = schema;
  const required = requiredOf(schema);
  return {
    ...schema,
    properties: properties && mapped(properties),
    items: items && schemaV2(items),
    additionalProperties: typeof additionalProperties === 'object' ? schemaV2(additionalProperties) : additionalProperties,
    required: required.length > 0 ? required : undefined,
  };
}

export function schemaV2(schema: Schema): SchemaV2 {
  const target = soleReference(schema);
  if (target) {
    const { description } = schema;
    return { ...(description !== undefined && { description }), $ref: `#/definitions/${referredModel(target)}` };
  }
  const dropped = new Set([...UNKNOWN_TO_V2, ...openWords(schema)]);
  return Object.fromEntries(Object.entries(converted(schema)).filter(([word, value]) => value !== undefined && !dropped.has(word)));
}
