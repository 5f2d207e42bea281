/** Stored objects as a resource shows them, and what clients send as what is stored. Pure. */
import type { KindObject } from '#api/meta.ts';
import { hidden, isNamespace, unhidden } from '#api/namespace.ts';
import { kindForm } from './kind-types.ts';
import type { Resource } from './resources.ts';
import type { Route } from './route.ts';
import { EVENTS_API_VERSION, toCoreEvent, toEventsV1 } from './shape/events.ts';

/** Undefined: just as they are. */
export function presentationOf({ group, isNamespaced }: Resource): ((object: KindObject) => KindObject) | undefined {
  if (isEventsGroup(group)) return (event) => kindForm(toEventsV1(event)) as unknown as KindObject;
  return isNamespaced ? undefined : withoutNamespace;
}

export function shown(resource: Resource, object: KindObject): KindObject {
  return presentationOf(resource)?.(object) ?? object;
}

/** `current`: as it is stored now; undefined for a creation. */
export function storedForm({ resource, subresource }: Route, next: KindObject, current?: KindObject): KindObject {
  if (isEventsGroup(resource.group)) return toCoreEvent(next) as unknown as KindObject;
  if (!isNamespace(resource)) return next;
  // What holds a namespace is only changed where that is asked for.
  const isKept = current !== undefined && subresource !== 'finalize';
  return unhidden(isKept ? { ...next, spec: current.spec } : next, current);
}

/** Without what no client can own: what holds a namespace is the server's. */
export function ownedForm(object: KindObject): KindObject {
  if (!isNamespace(object)) return object;
  const { spec: _spec, ...rest } = hidden(object);
  return rest;
}

function isEventsGroup(group: string): boolean {
  return EVENTS_API_VERSION.startsWith(`${group}/`);
}

/** The store keeps an empty namespace where there is none; clients get none. */
function withoutNamespace(object: KindObject): KindObject {
  const { namespace: _empty, ...metadata } = object.metadata;
  const bare = { ...object, metadata } as KindObject;
  return isNamespace(object) ? hidden(bare) : bare;
}
