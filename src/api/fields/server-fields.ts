/** What nobody can own: the fields that the server sets, and those that an endpoint does not take. */
import { isObject, type JsonObject } from '#lib/json.ts';
import type { KindObject } from '../meta.ts';
import type { FieldSet } from './field-set.ts';

const SET_BY_SERVER = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'clusterName',
  'generation',
  'managedFields',
  'resourceVersion',
];

/** Taken from whoever writes, member by member: labels and the like below metadata stay. */
export const SERVER_FIELDS: FieldSet = {
  'f:apiVersion': {},
  'f:kind': {},
  'f:metadata': { '.': {}, ...Object.fromEntries(SET_BY_SERVER.map((name) => [`f:${name}`, {}])) },
};

/** The part of an object whose owners a write can change: no managedFields, and not what the endpoint leaves alone. */
export function trackedPart(obj: JsonObject, subresource: 'status' | undefined): JsonObject {
  if (subresource === 'status') {
    const { metadata: _metadata, spec: _spec, ...rest } = obj;
    return rest;
  }
  const { status: _status, ...rest } = withoutManagedFields(obj);
  return rest;
}

export function withoutManagedFields(obj: JsonObject): JsonObject {
  const { metadata } = obj;
  if (!isObject(metadata) || !Object.hasOwn(metadata, 'managedFields')) return obj;
  const { managedFields: _, ...rest } = metadata;
  return { ...obj, metadata: rest };
}

/** A typed object as the plain tree that the walkers take. */
export function treeOf(obj: KindObject): JsonObject {
  return { ...obj };
}
