/** The schemas that every API document shares: object and list metadata, the answer Status, the bodies of patches and deletions. */
import type { Schema } from '#api/schema.ts';
import { groupVersions } from './groups.ts';
import { describedReference, metaModel, reference } from './model-names.ts';

const CONVENTIONS = 'https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md';

/** Kubernetes' own words, which every kind of every API repeats. */
export const TYPE_META: Readonly<Record<'apiVersion' | 'kind', Schema>> = {
  apiVersion: {
    description: `APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: ${CONVENTIONS}#resources`,
    type: 'string',
  },
  kind: {
    description: `Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: ${CONVENTIONS}#types-kinds`,
    type: 'string',
  },
};
export const OBJECT_META_PROPERTY = describedReference(
  metaModel('ObjectMeta'),
  `Standard object's metadata. More info: ${CONVENTIONS}#metadata`,
);
export const LIST_META_PROPERTY = describedReference(
  metaModel('ListMeta'),
  `Standard list metadata. More info: ${CONVENTIONS}#types-kinds`,
);
export const LIST_ITEMS_INFO = CONVENTIONS;

const GVK = 'x-kubernetes-group-version-kind';
const text = (description: string): Schema => ({ description, type: 'string' });
const flag = (description: string): Schema => ({ description, type: 'boolean' });
const int64 = (description: string): Schema => ({ description, type: 'integer', format: 'int64' });
const textMap = (description: string): Schema => ({ description, type: 'object', additionalProperties: { type: 'string' } });
const time = (description: string) => describedReference(metaModel('Time'), description);
const list = (description: string, items: Schema, words: Schema = {}): Schema => ({ description, type: 'array', items, ...words });
const ATOMIC: Schema = { 'x-kubernetes-list-type': 'atomic' };

const OBJECT_META: Schema = {
  description: 'ObjectMeta is what every stored object has: its name, its versions, its labels and its owners.',
  type: 'object',
  properties: {
    annotations: textMap('Free text by key, for tools and people. It cannot be selected by.'),
    creationTimestamp: time('When the object was created, in UTC. Set by the server. Read-only.'),
    deletionGracePeriodSeconds: int64('Seconds the object has to end by itself once it is deleted. Set with deletionTimestamp. Read-only.'),
    deletionTimestamp: time('When deletion was asked for. The object goes as soon as finalizers is empty. Set by the server. Read-only.'),
    finalizers: list(
      'Names of those who have something to clean up. A deleted object stays until the list is empty.',
      { type: 'string' },
      { 'x-kubernetes-list-type': 'set', 'x-kubernetes-patch-strategy': 'merge' },
    ),
    generateName: text('Prefix of a name that the server completes, when name is not given.'),
    generation: int64('Counts the changes of the desired state. Set by the server. Read-only.'),
    labels: textMap('Values by key, by which objects are grouped and selected.'),
    managedFields: list('Who set which fields, kept for server-side apply.', reference(metaModel('ManagedFieldsEntry')), ATOMIC),
    name: text('Name of the object, unique within its namespace. Cannot be updated.'),
    namespace: text('Space within which the name is unique; "default" if empty. Cannot be updated.'),
    ownerReferences: list('Objects this one depends on. It is deleted when all of them are gone.', reference(metaModel('OwnerReference')), {
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'uid',
      'x-kubernetes-patch-strategy': 'merge',
    }),
    resourceVersion: text('Changes with every write; clients compare it for equality only. Set by the server. Read-only.'),
    selfLink: text('Deprecated: no longer set.'),
    uid: text('Tells this object from all others, also from earlier ones of the same name. Set by the server. Read-only.'),
  },
};

const OWNER_REFERENCE: Schema = {
  description: 'OwnerReference names an object that this one depends on, in the same namespace or in none.',
  type: 'object',
  required: ['apiVersion', 'kind', 'name', 'uid'],
  properties: {
    apiVersion: text('API version of the owner.'),
    blockOwnerDeletion: flag('If true, a foreground deletion of the owner waits for this object.'),
    controller: flag('If true, the owner manages this object.'),
    kind: text('Kind of the owner.'),
    name: text('Name of the owner.'),
    uid: text('UID of the owner.'),
  },
  'x-kubernetes-map-type': 'atomic',
};

const MANAGED_FIELDS_ENTRY: Schema = {
  description: 'ManagedFieldsEntry says which fields one manager set, and how.',
  type: 'object',
  properties: {
    apiVersion: text('Version of the resource that the field set is written in.'),
    fieldsType: text('Format of the field set; "FieldsV1".'),
    fieldsV1: describedReference(metaModel('FieldsV1'), 'The field set.'),
    manager: text('Name of the manager.'),
    operation: text('How the fields were set; "Apply" or "Update".'),
    subresource: text('Subresource through which they were set; empty for the object itself.'),
    time: time('When the entry last changed.'),
  },
};

const LIST_META: Schema = {
  description: 'ListMeta is what every list has.',
  type: 'object',
  properties: {
    continue: text('Token that asks for the rest of the list; empty at its end.'),
    remainingItemCount: int64('How many items are left after this page, if known.'),
    resourceVersion: text('Version of the whole list; a watch may start from it.'),
    selfLink: text('Deprecated: no longer set.'),
  },
};

const STATUS: Schema = {
  description: 'Status is the answer of calls that return no other object, and of every failure.',
  type: 'object',
  properties: {
    ...TYPE_META,
    code: { description: 'HTTP code of the answer.', type: 'integer', format: 'int32' },
    details: { ...describedReference(metaModel('StatusDetails'), 'What the answer is about.'), ...ATOMIC },
    message: text('What happened, for people.'),
    metadata: LIST_META_PROPERTY,
    reason: text('Why the call failed, for programs.'),
    status: text('"Success" or "Failure".'),
  },
  [GVK]: [{ group: '', kind: 'Status', version: 'v1' }],
};

const STATUS_DETAILS: Schema = {
  description: 'StatusDetails names the object that a Status is about, and the causes of a failure.',
  type: 'object',
  properties: {
    causes: list('Every single problem.', reference(metaModel('StatusCause')), ATOMIC),
    group: text('Group of the resource.'),
    kind: text('Resource or kind.'),
    name: text('Name of the object.'),
    retryAfterSeconds: { description: 'Seconds to wait before another try.', type: 'integer', format: 'int32' },
    uid: text('UID of the object.'),
  },
};

const STATUS_CAUSE: Schema = {
  description: 'StatusCause is one problem.',
  type: 'object',
  properties: {
    field: text('Path of the field, such as spec.roles[0].name.'),
    message: text('The problem, for people.'),
    reason: text('The problem, for programs.'),
  },
};

const DELETE_OPTIONS: Schema = {
  description: 'DeleteOptions may accompany a deletion.',
  type: 'object',
  properties: {
    ...TYPE_META,
    dryRun: list('["All"] deletes nothing and answers as if it did.', { type: 'string' }, ATOMIC),
    gracePeriodSeconds: int64('Seconds the object has to end by itself.'),
    orphanDependents: flag('Deprecated: use propagationPolicy.'),
    preconditions: describedReference(metaModel('Preconditions'), 'What must be so, or nothing is deleted.'),
    propagationPolicy: text('What becomes of dependents: Background (the default), Foreground or Orphan.'),
  },
  [GVK]: groupVersions.map(({ group, version }) => ({ group, kind: 'DeleteOptions', version })),
};

const PRECONDITIONS: Schema = {
  description: 'Preconditions must hold before an object is changed.',
  type: 'object',
  properties: { resourceVersion: text('The version the object must have.'), uid: text('The UID the object must have.') },
};

const MODELS: Readonly<Record<string, Schema>> = {
  DeleteOptions: DELETE_OPTIONS,
  FieldsV1: { description: 'FieldsV1 is a set of fields, as a tree of keys.', type: 'object' },
  ListMeta: LIST_META,
  ManagedFieldsEntry: MANAGED_FIELDS_ENTRY,
  ObjectMeta: OBJECT_META,
  OwnerReference: OWNER_REFERENCE,
  Patch: { description: 'Patch is the body of a PATCH; its form depends on the Content-Type.', type: 'object' },
  Preconditions: PRECONDITIONS,
  Status: STATUS,
  StatusCause: STATUS_CAUSE,
  StatusDetails: STATUS_DETAILS,
  Time: { description: 'Time is a date and a time of day in RFC 3339 form.', type: 'string', format: 'date-time' },
};

export const metaSchemas: ReadonlyMap<string, Schema> = new Map(Object.entries(MODELS).map(([name, schema]) => [metaModel(name), schema]));
