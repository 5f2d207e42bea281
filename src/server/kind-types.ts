/** The built-in kinds as the Go types that they are in Kubernetes. Pure. */
import type { JsonObject } from '#lib/json.ts';
import { type GoType, goForm, goTypeProblem, type Struct } from './go-types.ts';
import { EVENTS_API_VERSION, toEventsNames } from './shape/events.ts';

const texts = (...names: readonly string[]): Record<string, GoType> => Object.fromEntries(names.map((name) => [name, 'string']));
const reference: GoType = {
  struct: 'ObjectReference',
  fields: texts('kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'),
};

const EVENT_FIELDS: Readonly<Record<string, GoType>> = {
  ...texts('reason', 'message', 'type', 'action', 'reportingComponent', 'reportingInstance'),
  involvedObject: reference,
  source: { struct: 'EventSource', fields: texts('component', 'host') },
  firstTimestamp: 'time',
  lastTimestamp: 'time',
  count: 'int32',
  eventTime: 'microTime',
  series: { struct: 'EventSeries', fields: { count: 'int32', lastObservedTime: 'microTime' } },
  related: reference,
};
const EVENT_ZEROES = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};
const EVENT: Struct = { struct: 'Event', fields: EVENT_FIELDS, always: EVENT_ZEROES };
/** Here a client need not say who reports, but it has to before it is let pass. */
const NEWER_EVENT: Struct = {
  struct: 'Event',
  fields: toEventsNames(EVENT_FIELDS),
  always: toEventsNames({ source: {}, firstTimestamp: null, lastTimestamp: null, eventTime: null, involvedObject: {} }),
};

const LEASE_SPEC: Struct = {
  struct: 'LeaseSpec',
  hasPointers: true,
  fields: {
    ...texts('holderIdentity', 'strategy', 'preferredHolder'),
    leaseDurationSeconds: 'int32',
    leaseTransitions: 'int32',
    acquireTime: 'microTime',
    renewTime: 'microTime',
  },
};

const CONDITION: Struct = {
  struct: 'NamespaceCondition',
  fields: { ...texts('type', 'status', 'reason', 'message'), lastTransitionTime: 'time' },
  always: { type: '', status: '', lastTransitionTime: null },
};
const NAMESPACE_SPEC: Struct = { struct: 'NamespaceSpec', fields: { finalizers: { listOf: 'string' } } };
const NAMESPACE_STATUS: Struct = { struct: 'NamespaceStatus', fields: { phase: 'string', conditions: { listOf: CONDITION } } };

const CONFIG_MAP: Struct = {
  struct: 'ConfigMap',
  fields: { immutable: 'bool', data: { mapOf: 'string' }, binaryData: { mapOf: 'bytes' } },
};
const TYPES: ReadonlyMap<string, Struct> = new Map([
  ['ConfigMap', CONFIG_MAP],
  ['Event', EVENT],
  ['Lease', { struct: 'Lease', fields: { spec: LEASE_SPEC }, always: { spec: {} } }],
  ['Namespace', { struct: 'Namespace', fields: { spec: NAMESPACE_SPEC, status: NAMESPACE_STATUS }, always: { spec: {}, status: {} } }],
]);

/** Undefined: a kind that has no types but its schema. */
function typeOf({ apiVersion, kind }: { apiVersion?: unknown; kind?: unknown }): Struct | undefined {
  return apiVersion === EVENTS_API_VERSION ? NEWER_EVENT : TYPES.get(String(kind));
}

/** The first thing wrong; undefined when all is well. */
export function kindTypeProblem(object: JsonObject): string | undefined {
  const type = typeOf(object);
  return type && goTypeProblem(type, object, { owner: type.struct, path: '' });
}

/** As Kubernetes would write it. */
export function kindForm<T extends { apiVersion?: unknown; kind?: unknown }>(object: T): T {
  const type = typeOf(object);
  return type ? goForm(type, object) : object;
}

/** What there is of a kind before anybody has said anything: nobody owns it. */
export function emptyForm({ apiVersion, kind }: { apiVersion: string; kind: string }): JsonObject {
  const { apiVersion: _version, kind: _kind, ...empty } = kindForm<JsonObject>({ apiVersion, kind });
  return empty;
}
