/** The messages that clients send as protobuf: which field has which number. */

export type Message = { readonly [number: number]: Field };

export interface Field {
  readonly name: string;
  readonly type: 'text' | 'integer' | 'boolean' | 'base64' | 'json' | 'time' | 'microTime' | Message;
  readonly many?: 'list' | 'map';
  /** Present means set, even to nothing: a grace period of 0 is not the default one. */
  readonly isPointer?: true;
}

const text = (name: string): Field => ({ name, type: 'text' });
const texts = (name: string): Field => ({ name, type: 'text', many: 'list' });
const textMap = (name: string): Field => ({ name, type: 'text', many: 'map' });
const pointer = (name: string, type: 'text' | 'integer' | 'boolean'): Field => ({ name, type, isPointer: true });
const message = (name: string, type: Message): Field => ({ name, type });
const messages = (name: string, type: Message): Field => ({ name, type, many: 'list' });
const integer = (name: string): Field => ({ name, type: 'integer' });
const time = (name: string): Field => ({ name, type: 'time' });
const microTime = (name: string): Field => ({ name, type: 'microTime' });

export const TYPE_META: Message = { 1: text('apiVersion'), 2: text('kind') };

const OWNER_REFERENCE: Message = {
  1: text('kind'),
  3: text('name'),
  4: text('uid'),
  5: text('apiVersion'),
  6: pointer('controller', 'boolean'),
  7: pointer('blockOwnerDeletion', 'boolean'),
};

const MANAGED_FIELDS_ENTRY: Message = {
  1: text('manager'),
  2: text('operation'),
  3: text('apiVersion'),
  4: time('time'),
  6: text('fieldsType'),
  7: { name: 'fieldsV1', type: 'json' },
  8: text('subresource'),
};

const OBJECT_META: Message = {
  1: text('name'),
  2: text('generateName'),
  3: text('namespace'),
  4: text('selfLink'),
  5: text('uid'),
  6: text('resourceVersion'),
  7: integer('generation'),
  8: time('creationTimestamp'),
  9: time('deletionTimestamp'),
  10: pointer('deletionGracePeriodSeconds', 'integer'),
  11: textMap('labels'),
  12: textMap('annotations'),
  13: messages('ownerReferences', OWNER_REFERENCE),
  14: texts('finalizers'),
  17: messages('managedFields', MANAGED_FIELDS_ENTRY),
};

const metadata = message('metadata', OBJECT_META);

const REQUIREMENT: Message = { 1: text('key'), 2: text('operator'), 3: texts('values') };
const SELECTOR: Message = { 1: text('rawSelector'), 2: messages('requirements', REQUIREMENT) };

const RESOURCE_ATTRIBUTES: Message = {
  1: text('namespace'),
  2: text('verb'),
  3: text('group'),
  4: text('version'),
  5: text('resource'),
  6: text('subresource'),
  7: text('name'),
  8: message('fieldSelector', SELECTOR),
  9: message('labelSelector', SELECTOR),
};

const OBJECT_REFERENCE: Message = {
  1: text('kind'),
  2: text('namespace'),
  3: text('name'),
  4: text('uid'),
  5: text('apiVersion'),
  6: text('resourceVersion'),
  7: text('fieldPath'),
};
const EVENT_SOURCE: Message = { 1: text('component'), 2: text('host') };
const EVENT_SERIES: Message = { 1: integer('count'), 2: microTime('lastObservedTime') };

const CORE_EVENT: Message = {
  1: metadata,
  2: message('involvedObject', OBJECT_REFERENCE),
  3: text('reason'),
  4: text('message'),
  5: message('source', EVENT_SOURCE),
  6: time('firstTimestamp'),
  7: time('lastTimestamp'),
  8: integer('count'),
  9: text('type'),
  10: microTime('eventTime'),
  11: message('series', EVENT_SERIES),
  12: text('action'),
  13: message('related', OBJECT_REFERENCE),
  14: text('reportingComponent'),
  15: text('reportingInstance'),
};

const EVENTS_EVENT: Message = {
  1: metadata,
  2: microTime('eventTime'),
  3: message('series', EVENT_SERIES),
  4: text('reportingController'),
  5: text('reportingInstance'),
  6: text('action'),
  7: text('reason'),
  8: message('regarding', OBJECT_REFERENCE),
  9: message('related', OBJECT_REFERENCE),
  10: text('note'),
  11: text('type'),
  12: message('deprecatedSource', EVENT_SOURCE),
  13: time('deprecatedFirstTimestamp'),
  14: time('deprecatedLastTimestamp'),
  15: integer('deprecatedCount'),
};

const LEASE_SPEC: Message = {
  1: pointer('holderIdentity', 'text'),
  2: pointer('leaseDurationSeconds', 'integer'),
  3: microTime('acquireTime'),
  4: microTime('renewTime'),
  5: pointer('leaseTransitions', 'integer'),
  6: pointer('strategy', 'text'),
  7: pointer('preferredHolder', 'text'),
};

const NAMESPACE_CONDITION: Message = {
  1: text('type'),
  2: text('status'),
  4: time('lastTransitionTime'),
  5: text('reason'),
  6: text('message'),
};

const MESSAGES: ReadonlyMap<string, Message> = new Map<string, Message>([
  [
    'v1 Namespace',
    {
      1: metadata,
      2: message('spec', { 1: texts('finalizers') }),
      3: message('status', { 1: text('phase'), 2: messages('conditions', NAMESPACE_CONDITION) }),
    },
  ],
  [
    'v1 ConfigMap',
    { 1: metadata, 2: textMap('data'), 3: { name: 'binaryData', type: 'base64', many: 'map' }, 4: pointer('immutable', 'boolean') },
  ],
  ['v1 Event', CORE_EVENT],
  ['events.k8s.io/v1 Event', EVENTS_EVENT],
  ['coordination.k8s.io/v1 Lease', { 1: metadata, 2: message('spec', LEASE_SPEC) }],
  [
    'authorization.k8s.io/v1 SelfSubjectAccessReview',
    {
      1: metadata,
      2: message('spec', {
        1: message('resourceAttributes', RESOURCE_ATTRIBUTES),
        2: message('nonResourceAttributes', { 1: text('path'), 2: text('verb') }),
      }),
    },
  ],
  ['authorization.k8s.io/v1 SelfSubjectRulesReview', { 1: metadata, 2: message('spec', { 1: text('namespace') }) }],
  ['authentication.k8s.io/v1 SelfSubjectReview', { 1: metadata }],
]);

const DELETE_OPTIONS: Message = {
  1: pointer('gracePeriodSeconds', 'integer'),
  2: message('preconditions', { 1: pointer('uid', 'text'), 2: pointer('resourceVersion', 'text') }),
  3: pointer('orphanDependents', 'boolean'),
  4: pointer('propagationPolicy', 'text'),
  5: texts('dryRun'),
};

/** Every group has DeleteOptions of its own, all the same. */
export function messageFor(apiVersion: string, kind: string): Message | undefined {
  return kind === 'DeleteOptions' ? DELETE_OPTIONS : MESSAGES.get(`${apiVersion} ${kind}`);
}
