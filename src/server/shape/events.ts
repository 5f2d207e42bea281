/** The two faces of an Event: core/v1, as it is stored, and events.k8s.io/v1, which has other names for the same fields. Pure. */
import { isObject, type JsonObject } from '#lib/json.ts';

export const EVENTS_API_VERSION = 'events.k8s.io/v1';

/** Same meaning, other name: [core/v1, events.k8s.io/v1]. What is not named here is called the same in both. */
const NAMES: readonly (readonly [core: string, events: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];
const toEvents: ReadonlyMap<string, string> = new Map(NAMES);
const toCore: ReadonlyMap<string, string> = new Map(NAMES.map(([core, events]) => [events, core]));

/** Typed clients read eventTime from every Event, if only to learn that there is none. */
export function toEventsV1(event: object): JsonObject {
  return { eventTime: null, regarding: {}, ...renamed(event, toEvents), apiVersion: EVENTS_API_VERSION };
}

export function toCoreEvent(event: object): JsonObject {
  return { involvedObject: {}, ...renamed(event, toCore), apiVersion: 'v1' };
}

/** Members of a core/v1 Event, whatever they are, under the names of events.k8s.io/v1. */
export function toEventsNames<T>(members: Readonly<Record<string, T>>): Record<string, T> {
  return renamed(members, toEvents) as Record<string, T>;
}

function renamed(event: object, names: ReadonlyMap<string, string>): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(event)) if (key !== '__proto__') copy[names.get(key) ?? key] = value;
  return copy;
}

const REFERENCE_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
const LABELS: ReadonlyMap<string, string> = new Map([
  ...REFERENCE_FIELDS.map((field) => [`regarding.${field}`, `involvedObject.${field}`] as const),
  ['reportingController', 'reportingComponent'],
  ...['reason', 'type', 'metadata.name', 'metadata.namespace'].map((field) => [field, field] as const),
]);

/** The core/v1 name of a field that events.k8s.io/v1 lets clients select by; undefined for every other. */
export function coreFieldLabel(label: string): string | undefined {
  return LABELS.get(label);
}

/** The other way, for messages that must name the field as the client did. */
export function eventsFieldLabel(label: string): string | undefined {
  for (const [events, core] of LABELS) if (core === label) return events;
  return undefined;
}

/** What a field selector of core/v1 compares with. `source` falls back on who reported, as the old field is empty in new events. */
export function eventFieldValue(event: object, label: string): string {
  if (label === 'source') return textAt(event, ['source', 'component']) || textAt(event, ['reportingComponent']);
  return textAt(event, label.split('.'));
}

export function textAt(value: unknown, path: readonly string[]): string {
  let at = value;
  for (const name of path) at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  return typeof at === 'string' ? at : '';
}
