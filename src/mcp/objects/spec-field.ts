/** Input fields that are parts of a spec: told as the CRD has them, checked by the API alone. */
import { kindNamed } from '#api/kinds.ts';
import type { Schema } from '#api/schema.ts';
import { isObject } from '#lib/json.ts';
import { anyFields, type JsonSchema, list, type Parser, parser } from '#protocol/shape.ts';

/** A list of maps below the spec of Team, such as roles. */
export function teamList(field: string): Parser<readonly Readonly<Record<string, unknown>>[]> {
  const parse = list(anyFields, { min: 1, max: 1_000 });
  return parser(
    (value, what) => parse(value, what),
    () => schemaOf(field),
  );
}

/** A map below the spec of Team, such as network. */
export function teamMap(field: string): Parser<Readonly<Record<string, unknown>>> {
  return parser(
    (value, what) => anyFields(value, what),
    () => schemaOf(field),
  );
}

function schemaOf(field: string): JsonSchema {
  const spec = kindNamed('Team')?.schema.properties?.['spec'];
  return plain(spec?.properties?.[field] ?? {}, MAX_DEPTH) as JsonSchema;
}

const KEPT = ['type', 'description', 'properties', 'items', 'required', 'enum', 'default', 'minimum', 'maximum', 'maxLength', 'pattern'];
/** Deeper parts are told by explain. */
const MAX_DEPTH = 1;

/** Without what only Kubernetes reads. */
function plain(schema: Schema, depth: number): Record<string, unknown> {
  const kept = Object.entries(schema).filter(([key]) => KEPT.includes(key));
  return Object.fromEntries(kept.flatMap(([key, value]) => part(key, value, depth)));
}

function part(key: string, value: unknown, depth: number): [string, unknown][] {
  if (key === 'items') return depth > 0 && isObject(value) ? [[key, plain(value as Schema, depth)]] : [];
  if (key !== 'properties' || !isObject(value)) return [[key, value]];
  if (depth === 0) return [];
  return [[key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each as Schema, depth - 1)]))]];
}
