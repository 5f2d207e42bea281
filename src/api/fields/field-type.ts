/** What ownership needs to know of a schema: which parts are one leaf, which are owned piece by piece, and by which keys. */
import { isObject } from '#lib/json.ts';
import type { Schema } from '../schema.ts';

export type ScalarType = 'numeric' | 'string' | 'boolean' | 'untyped';

export interface ListType {
  readonly isAtomic: boolean;
  /** Names of the fields that tell items apart, sorted; none in a set of scalars. */
  readonly keys: readonly string[];
  /** The same in the order of the schema, for messages. */
  readonly declaredKeys: readonly string[];
  readonly items: FieldType;
}

export interface MapType {
  readonly isAtomic: boolean;
  /** Declared fields, with the default of each. */
  readonly fields: ReadonlyMap<string, { readonly type: FieldType; readonly fallback: unknown }>;
  /** Type of all other keys; absent if there may be none. */
  readonly others?: FieldType;
}

/** A field may allow several forms (no type, int-or-string); the value then decides. */
export interface FieldType {
  readonly scalar?: ScalarType;
  readonly list?: ListType;
  readonly map?: MapType;
}

export type Form = 'map' | 'scalar' | 'list';

const noFields: MapType['fields'] = new Map();

/** Free content inside a list: one leaf, whatever it is. */
const UNTYPED: FieldType = {
  scalar: 'untyped',
  list: { isAtomic: true, keys: [], declaredKeys: [], items: {} },
  map: { isAtomic: true, fields: noFields },
};
Object.assign(UNTYPED.list ?? {}, { items: UNTYPED });
Object.assign(UNTYPED.map ?? {}, { others: UNTYPED });

/** Free content: maps are owned key by key, lists as a whole. */
const DEDUCED: FieldType = {
  scalar: 'untyped',
  list: { isAtomic: true, keys: [], declaredKeys: [], items: UNTYPED },
  map: { isAtomic: false, fields: noFields },
};
Object.assign(DEDUCED.map ?? {}, { others: DEDUCED });

const known = new WeakMap<Schema, FieldType>();

export function typeOf(schema: Schema): FieldType {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const type = readType(schema, false);
  known.set(schema, type);
  return type;
}

/** Keeping unknown fields is inherited by everything below. */
function readType(schema: Schema, keepsUnknown: boolean): FieldType {
  const keeps = keepsUnknown || schema['x-kubernetes-preserve-unknown-fields'] === true;
  switch (schema.type) {
    case undefined:
      return { scalar: 'untyped', list: readList(schema, keeps), map: readMap(schema, keeps) };
    case 'object':
      return { map: readMap(schema, keeps) };
    case 'array':
      return { list: readList(schema, keeps) };
    case 'boolean':
      return { scalar: 'boolean' };
    case 'string':
      return { scalar: schema.format === undefined || schema.format === '' || schema.format === 'byte' ? 'string' : 'untyped' };
    default:
      return { scalar: 'numeric' };
  }
}

function readList(schema: Schema, keeps: boolean): ListType {
  const kind = schema['x-kubernetes-list-type'] ?? 'atomic';
  const declaredKeys = kind === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
  return {
    isAtomic: kind === 'atomic',
    keys: [...declaredKeys].sort(),
    declaredKeys,
    items: schema.items === undefined ? UNTYPED : readType(schema.items, keeps),
  };
}

function readMap(schema: Schema, keeps: boolean): MapType {
  const fields = new Map<string, { type: FieldType; fallback: unknown }>();
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    fields.set(name, { type: readType(field, keeps), fallback: field.default });
  }
  const others = readOthers(schema, keeps, fields.size);
  return { isAtomic: schema['x-kubernetes-map-type'] === 'atomic', fields, ...(others !== undefined && { others }) };
}

function readOthers(schema: Schema, keeps: boolean, fieldCount: number): FieldType | undefined {
  const others = schema.additionalProperties;
  if (others === undefined) return keeps || fieldCount === 0 ? DEDUCED : undefined;
  if (typeof others === 'boolean') return others ? DEDUCED : undefined;
  return readType(others, keeps);
}

export function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** The form under which a value is read. What fits none (null, a wrong type) is read as the first that the type has. */
export function formOf(type: FieldType, value: unknown): Form | undefined {
  if (type.scalar !== undefined && isScalar(value)) return 'scalar';
  if (type.list !== undefined && Array.isArray(value)) return 'list';
  if (type.map !== undefined && isObject(value)) return 'map';
  if (type.map !== undefined) return 'map';
  if (type.scalar !== undefined) return 'scalar';
  return type.list === undefined ? undefined : 'list';
}

const NOTHING: FieldType = {};

/** Type of one key of a map. */
export function typeAt(map: MapType, key: string): FieldType {
  return map.fields.get(key)?.type ?? map.others ?? NOTHING;
}
