/** The core kinds that clients expect of any Kubernetes API, as far as we have them. They live in the journal only. */
import { copyJson } from '#lib/json.ts';
import { completeConfigMap, configMapProblems } from './config-map.ts';
import type { Kind } from './kind.ts';
import { completeLease, leaseProblems } from './lease.ts';
import type { KindObject } from './meta.ts';
import { completeNamespace } from './namespace.ts';
import { namespaceProblems } from './namespace-rules.ts';
import { OBJECT_META, type Schema } from './schema.ts';
import { admissionOf } from './validate.ts';

const text: Schema = { type: 'string' };
const textMap: Schema = { type: 'object', additionalProperties: text };
const time: Schema = { type: 'string', nullable: true };
const reference: Schema = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  properties: { kind: text, namespace: text, name: text, uid: text, apiVersion: text, resourceVersion: text, fieldPath: text },
};

const NAMESPACE: Schema = {
  type: 'object',
  description: 'Namespace provides a scope for Names.',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: OBJECT_META,
    spec: { type: 'object', default: {}, properties: { finalizers: { type: 'array', items: text } } },
    status: {
      type: 'object',
      default: {},
      properties: {
        phase: { type: 'string', default: 'Active' },
        conditions: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
          items: { type: 'object', properties: { type: text, status: text, lastTransitionTime: time, reason: text, message: text } },
        },
      },
    },
  },
};

const CONFIG_MAP: Schema = {
  type: 'object',
  description: 'ConfigMap holds configuration data.',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: OBJECT_META,
    immutable: { type: 'boolean' },
    data: textMap,
    binaryData: textMap,
  },
};

const EVENT: Schema = {
  type: 'object',
  description: 'Event is a report of something that happened to an object.',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: OBJECT_META,
    involvedObject: reference,
    type: text,
    reason: text,
    message: text,
    count: { type: 'integer' },
    firstTimestamp: time,
    lastTimestamp: time,
    eventTime: time,
    source: { type: 'object', properties: { component: text, host: text } },
    reportingComponent: text,
    reportingInstance: text,
    action: text,
    related: { ...reference, nullable: true },
    series: { type: 'object', nullable: true, properties: { count: { type: 'integer' }, lastObservedTime: time } },
  },
};

const LEASE: Schema = {
  type: 'object',
  description: 'Lease says who holds something and until when.',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: OBJECT_META,
    spec: {
      type: 'object',
      default: {},
      properties: {
        holderIdentity: text,
        leaseDurationSeconds: { type: 'integer', format: 'int32' },
        acquireTime: { type: 'string', format: 'date-time' },
        renewTime: { type: 'string', format: 'date-time' },
        leaseTransitions: { type: 'integer', format: 'int32' },
        strategy: text,
        preferredHolder: text,
      },
    },
  },
};

const EVENT_FIELDS = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
  (field) => `involvedObject.${field}`,
);

interface BuiltIn
  extends Partial<
      Pick<Kind, 'shortNames' | 'selectableFields' | 'isNamespaced' | 'hasStatus' | 'isCreatedByUpdate' | 'isNeverOverwritten'>
    >,
    Pick<Kind, 'kind' | 'plural' | 'apiVersion' | 'schema' | 'admit'> {}

function builtIn({ kind, plural, apiVersion, schema, isNamespaced = true, admit, ...rest }: BuiltIn): Kind {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return {
    kind,
    plural,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: [],
    categories: [],
    group,
    version,
    apiVersion,
    isNamespaced,
    hasStatus: false,
    hasFile: false,
    selectableFields: [],
    columns: [],
    schema,
    admit: (object, old) => admit(withoutGeneration(object), old),
    ...rest,
  };
}

/** Only custom kinds count how often what is wanted changed. */
function withoutGeneration(object: KindObject): KindObject {
  const { generation: _generation, ...metadata } = object.metadata;
  return { ...object, metadata: metadata as KindObject['metadata'] };
}

/** Written by our own runtime, which knows their shape, and a hundred times a second. */
const asItIs = (object: KindObject) => copyJson(object);

const admitConfigMap = admissionOf({ kind: 'ConfigMap', apiVersion: 'v1', schema: CONFIG_MAP, rules: configMapProblems });
const admitLease = admissionOf({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', schema: LEASE, rules: leaseProblems });
const admitNamespace = admissionOf({
  kind: 'Namespace',
  apiVersion: 'v1',
  schema: NAMESPACE,
  isNamespaced: false,
  names: 'label',
  rules: namespaceProblems,
});

export const builtInKinds: readonly Kind[] = [
  builtIn({
    kind: 'Namespace',
    plural: 'namespaces',
    apiVersion: 'v1',
    schema: NAMESPACE,
    shortNames: ['ns'],
    isNamespaced: false,
    hasStatus: true,
    selectableFields: ['status.phase'],
    admit: (object, old) => admitNamespace(completeNamespace(object, old), old),
  }),
  builtIn({
    kind: 'ConfigMap',
    plural: 'configmaps',
    apiVersion: 'v1',
    schema: CONFIG_MAP,
    shortNames: ['cm'],
    admit: (object, old) => admitConfigMap(completeConfigMap(object), old),
  }),
  builtIn({
    kind: 'Event',
    plural: 'events',
    apiVersion: 'v1',
    schema: EVENT,
    shortNames: ['ev'],
    selectableFields: [...EVENT_FIELDS, 'reason', 'reportingComponent', 'source', 'type'],
    admit: asItIs,
    isCreatedByUpdate: true,
  }),
  builtIn({
    kind: 'Lease',
    plural: 'leases',
    apiVersion: 'coordination.k8s.io/v1',
    schema: LEASE,
    admit: (object, old) => admitLease(completeLease(object), old),
    isCreatedByUpdate: true,
    isNeverOverwritten: true,
  }),
];
