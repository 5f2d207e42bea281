/** Writes of the kinds that every Kubernetes has: what typed clients, leader elections and recorders of events do. */
import { at, type Scenario, type Step } from '../scenario.ts';
import {
  apply,
  del,
  get,
  jsonPatch,
  listVersion,
  mergePatch,
  otherPatch,
  post,
  put,
  rememberVersion,
  step,
  tableAccept,
} from './requests.ts';

const core = '/api/v1/namespaces/default';
const configMaps = `${core}/configmaps`;
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const events = `${core}/events`;
const newEvents = '/apis/events.k8s.io/v1/namespaces/default/events';
const metadataAccept = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json' };
const metadataListAccept = { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json' };

type Fields = Readonly<Record<string, unknown>>;

const configMap = (name: string, fields: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...fields,
});
const lease = (name: string, spec: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, ...metadata },
  spec,
});
const namespace = (name: string, fields: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, ...metadata },
  ...fields,
});
const time = '2020-01-02T03:04:05Z';
const microTime = '2020-01-02T03:04:05.678901Z';
const event = (name: string, fields: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name, ...metadata },
  involvedObject: { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', namespace: 'default', name: 'core-x', uid: 'u-1' },
  reason: 'Tried',
  message: 'it was tried',
  type: 'Normal',
  ...fields,
});
const newEvent = (name: string, fields: Fields = {}, metadata: Fields = {}) => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name, ...metadata },
  eventTime: microTime,
  reportingController: 'conformance.dev/test',
  reportingInstance: 'test-1',
  action: 'Try',
  reason: 'Tried',
  regarding: { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', namespace: 'default', name: 'core-x', uid: 'u-1' },
  note: 'it was tried',
  type: 'Normal',
  ...fields,
});
const strategic = (what: string, body: unknown) => otherPatch('application/strategic-merge-patch+json', what, body);
const labelled = { labelSelector: 'core=1' };
/** What columns are called is one thing, the prose about them another. */
const cells = {
  pick: (body: unknown) => (at(body, '/rows') as unknown[]).map((row) => ({ cells: at(row, '/cells') })),
};
const names = { pick: (body: unknown) => (at(body, '/items') as unknown[]).map((item) => at(item, '/metadata/name')) };

/**
 * Without the record of who owns what. An event has one record here, in the words of the core group, whichever group wrote it; and what
 * holds a namespace is the server's, whoever named it.
 */
const unowned = (steps: readonly Step[]): Step[] => steps.map((one) => ({ pick: withoutOwners, ...one }));

function withoutOwners(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOwners);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([key]) => key !== 'managedFields');
  return Object.fromEntries(members.map(([key, member]) => [key, withoutOwners(member)]));
}

export const coreScenarios: readonly Scenario[] = [
  {
    name: 'core-configmap',
    steps: [
      step(
        'create',
        post(configMaps, configMap('core-configmap-a', { data: { a: '1', b: '2' } }, { labels: { core: '1' } })),
        rememberVersion,
      ),
      step('get', get(`${configMaps}/core-configmap-a`)),
      step('get metadata', get(`${configMaps}/core-configmap-a`, {}, metadataAccept)),
      step('get as a table', get(`${configMaps}/core-configmap-a`, {}, { accept: tableAccept }), cells),
      step('exists', post(configMaps, configMap('core-configmap-a'))),
      step('not found', get(`${configMaps}/core-configmap-none`)),
      step('a number is no text', post(configMaps, configMap('core-configmap-n', { data: { a: 1 } })), { compare: 'reason' }),
      step('data is no list', post(configMaps, configMap('core-configmap-n', { data: ['a'] })), { compare: 'reason' }),
      step('binary data that is no base64', post(configMaps, configMap('core-configmap-n', { binaryData: { a: '%%' } })), {
        compare: 'reason',
      }),
      step('unknown field, Strict', post(configMaps, configMap('core-configmap-n', { bogus: 1, data: {} }), { fieldValidation: 'Strict' })),
      step(
        'unknown field, Warn',
        post(configMaps, configMap('core-configmap-w', { bogus: 1, data: { x: 'y' } }), { fieldValidation: 'Warn' }),
      ),
      step(
        'unknown field in metadata, Strict',
        post(configMaps, configMap('core-configmap-n', {}, { bogus: 1 }), { fieldValidation: 'Strict' }),
      ),
      step(
        'duplicate, Strict',
        post(configMaps, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"core-configmap-n"},"data":{"a":"1","a":"2"}}', {
          fieldValidation: 'Strict',
        }),
      ),
      step('no fields', post(configMaps, configMap('core-configmap-b', {}, { labels: { core: '1' } }))),
      step('both forms', post(configMaps, configMap('core-configmap-n', { data: { a: '1' }, binaryData: { a: 'AAE=' } }))),
      step('bad key', post(configMaps, configMap('core-configmap-n', { data: { 'a b': '1' } }))),
      step('bytes', post(configMaps, configMap('core-configmap-c', { binaryData: { a: 'AAH/' } }, { labels: { core: '2' } }))),
      step('list by label', get(configMaps, labelled)),
      step('list as metadata', get(configMaps, labelled, metadataListAccept)),
      step('list as a table', get(configMaps, labelled, { accept: tableAccept }), cells),
      step('by a field nobody knows', get(configMaps, { fieldSelector: 'data.a=1' })),
      step(
        'put without a version',
        put(`${configMaps}/core-configmap-b`, configMap('core-configmap-b', { data: { p: 'q' } }, { labels: { core: '1' } })),
      ),
      step('put of nothing creates', put(`${configMaps}/core-configmap-none`, configMap('core-configmap-none'))),
      step('put with an old version', put(`${configMaps}/core-configmap-b`, configMap('core-configmap-b', {}, { resourceVersion: '1' }))),
      step(
        'strategic patch',
        strategic(`${configMaps}/core-configmap-a`, { data: { b: null, c: '3' }, metadata: { annotations: { x: 'y' } } }),
      ),
      step('strategic patch that replaces', strategic(`${configMaps}/core-configmap-a`, { data: { $patch: 'replace', z: '9' } })),
      step('strategic patch, finalizers', strategic(`${configMaps}/core-configmap-a`, { metadata: { finalizers: ['a.dev/x'] } })),
      step('strategic patch, more finalizers', strategic(`${configMaps}/core-configmap-a`, { metadata: { finalizers: ['a.dev/y'] } })),
      step(
        'strategic patch, fewer finalizers',
        strategic(`${configMaps}/core-configmap-a`, { metadata: { '$deleteFromPrimitiveList/finalizers': ['a.dev/x', 'a.dev/y'] } }),
      ),
      step(
        'strategic patch, owners',
        strategic(`${configMaps}/core-configmap-a`, {
          metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u-1' }] },
        }),
      ),
      step(
        'strategic patch, more owners',
        strategic(`${configMaps}/core-configmap-a`, {
          metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'y', uid: 'u-2' }] },
        }),
      ),
      step(
        'strategic patch, an owner goes',
        strategic(`${configMaps}/core-configmap-a`, { metadata: { ownerReferences: [{ $patch: 'delete', uid: 'u-1' }] } }),
      ),
      step(
        'strategic patch, owners replaced',
        strategic(`${configMaps}/core-configmap-a`, { metadata: { ownerReferences: [{ $patch: 'replace' }] } }),
      ),
      step('strategic patch, unknown field', strategic(`${configMaps}/core-configmap-a`, { bogus: 1 })),
      step('strategic patch, wrong type', strategic(`${configMaps}/core-configmap-a`, { data: { a: 1 } }), { compare: 'reason' }),
      step('strategic patch, bad directive', strategic(`${configMaps}/core-configmap-a`, { data: { $patch: 'bogus' } }), {
        compare: 'reason',
      }),
      step('strategic patch of nothing', strategic(`${configMaps}/core-configmap-none2`, { data: { a: '1' } })),
      step('merge patch', mergePatch(`${configMaps}/core-configmap-a`, { data: { m: 'n' } })),
      step('JSON patch', jsonPatch(`${configMaps}/core-configmap-a`, [{ op: 'add', path: '/data/j', value: 'k' }])),
      step('apply creates', apply(`${configMaps}/core-configmap-s`, configMap('core-configmap-s', { data: { a: '1' } }))),
      step(
        'another applies',
        apply(`${configMaps}/core-configmap-s`, configMap('core-configmap-s', { data: { b: '2' } }), { fieldManager: 'two' }),
      ),
      step(
        'conflict',
        apply(`${configMaps}/core-configmap-s`, configMap('core-configmap-s', { data: { a: '3' } }), { fieldManager: 'two' }),
      ),
      step(
        'forced',
        apply(`${configMaps}/core-configmap-s`, configMap('core-configmap-s', { data: { a: '3' } }), {
          fieldManager: 'two',
          force: 'true',
        }),
      ),
      step('apply an unknown field', apply(`${configMaps}/core-configmap-s`, configMap('core-configmap-s', { bogus: 1 })), {
        compare: 'reason',
      }),
      step('immutable', mergePatch(`${configMaps}/core-configmap-c`, { immutable: true })),
      step('immutable data', mergePatch(`${configMaps}/core-configmap-c`, { data: { a: 'b' } })),
      step('immutable stays', mergePatch(`${configMaps}/core-configmap-c`, { immutable: false })),
      step('immutable labels change', mergePatch(`${configMaps}/core-configmap-c`, { metadata: { labels: { l: 'm' } } })),
      step('delete', del(`${configMaps}/core-configmap-c`)),
      step('dry run', post(configMaps, configMap('core-configmap-d', { data: { a: '1' } }), { dryRun: 'All' })),
      step('generateName', post(configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'core-configmap-g-' } })),
      step('bad name', post(configMaps, configMap('core-configmap_x'))),
      step('delete collection', del(configMaps, undefined, labelled)),
      step('what is left', get(configMaps, labelled)),
      step('status is nothing', get(`${configMaps}/core-configmap-s/status`)),
    ],
  },
  {
    name: 'core-lease',
    steps: [
      step(
        'create',
        post(
          leases,
          lease(
            'core-lease-a',
            { holderIdentity: 'me', leaseDurationSeconds: 15, acquireTime: microTime, renewTime: microTime, leaseTransitions: 0 },
            { labels: { core: '1' } },
          ),
        ),
        rememberVersion,
      ),
      step('time without fraction', post(leases, lease('core-lease-b', { renewTime: time })), { compare: 'reason' }),
      step('time with nanoseconds', post(leases, lease('core-lease-c', { renewTime: '2020-01-02T03:04:05.123456789Z' })), {
        compare: 'reason',
      }),
      step('time in a zone', post(leases, lease('core-lease-d', { renewTime: '2020-01-02T03:04:05.5+01:00' })), { compare: 'reason' }),
      step('bad time', post(leases, lease('core-lease-n', { renewTime: 'soon' })), { compare: 'reason' }),
      step('bad type', post(leases, lease('core-lease-n', { holderIdentity: 1 })), { compare: 'reason' }),
      step('bad duration', post(leases, lease('core-lease-n', { leaseDurationSeconds: 0 }))),
      step('negative transitions', post(leases, lease('core-lease-n', { leaseTransitions: -1 }))),
      step('unknown field, Strict', post(leases, lease('core-lease-n', { bogus: 1 }), { fieldValidation: 'Strict' })),
      step('unknown field, Warn', post(leases, lease('core-lease-w', { bogus: 1 }), { fieldValidation: 'Warn' })),
      step('unknown field, Ignore', post(leases, lease('core-lease-i', { bogus: 1 }), { fieldValidation: 'Ignore' })),
      step('nulls', post(leases, lease('core-lease-u', { holderIdentity: null, renewTime: null }))),
      step('no spec', post(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'core-lease-o' } })),
      step(
        'renew',
        put(
          `${leases}/core-lease-a`,
          lease('core-lease-a', { holderIdentity: 'me', renewTime: '2020-01-02T03:04:06.000000Z' }, { resourceVersion: '{{rv}}' }),
        ),
        rememberVersion,
      ),
      step('renew too late', put(`${leases}/core-lease-a`, lease('core-lease-a', { holderIdentity: 'you' }, { resourceVersion: '1' }))),
      step('renew without a version', put(`${leases}/core-lease-a`, lease('core-lease-a', { holderIdentity: 'you' }))),
      step('put of nothing', put(`${leases}/core-lease-p`, lease('core-lease-p', { holderIdentity: 'you' }))),
      step('strategic patch', strategic(`${leases}/core-lease-a`, { spec: { leaseDurationSeconds: 60 } })),
      step('merge patch', mergePatch(`${leases}/core-lease-a`, { spec: { holderIdentity: null } })),
      step('apply a bad time', apply(`${leases}/core-lease-a`, lease('core-lease-a', { renewTime: 'soon' }), { force: 'true' }), {
        compare: 'reason',
      }),
      step('patch in a bad time', mergePatch(`${leases}/core-lease-a`, { spec: { renewTime: 'soon' } }), { compare: 'reason' }),
      step('apply', apply(`${leases}/core-lease-a`, lease('core-lease-a', { leaseDurationSeconds: 60 }))),
      step('apply an unknown field', apply(`${leases}/core-lease-a`, lease('core-lease-a', { bogus: 60 })), { compare: 'reason' }),
      step('as a table', get(`${leases}/core-lease-a`, {}, { accept: tableAccept }), cells),
      step('list', get(leases, { fieldSelector: 'metadata.name=core-lease-a' })),
      step(
        'delete with an old version',
        del(`${leases}/core-lease-a`, { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { resourceVersion: '1' } }),
      ),
      step('delete', del(`${leases}/core-lease-a`)),
      step('delete collection', del(leases, undefined, { fieldSelector: 'metadata.name=core-lease-b' })),
    ],
  },
  {
    name: 'core-event',
    steps: [
      step(
        'create',
        post(
          events,
          event(
            'core-event-a',
            { source: { component: 'test' }, firstTimestamp: time, lastTimestamp: time, count: 1 },
            { labels: { core: '1' } },
          ),
        ),
        rememberVersion,
      ),
      step('get', get(`${events}/core-event-a`)),
      step('get in the new form', get(`${newEvents}/core-event-a`)),
      step('get metadata', get(`${events}/core-event-a`, {}, metadataAccept)),
      step('another namespace', post(events, event('core-event-n', { involvedObject: { kind: 'Task', namespace: 'other', name: 'x' } }))),
      step('no namespace', post(events, event('core-event-o', { involvedObject: { kind: 'Node', name: 'x' } }))),
      step('unknown type', post(events, event('core-event-t', { type: 'Bogus' }))),
      step('no type', post(events, event('core-event-u', { type: '' }))),
      step('bad time', post(events, event('core-event-n', { firstTimestamp: 'soon' })), { compare: 'reason' }),
      step('bad count', post(events, event('core-event-n', { count: 'x' })), { compare: 'reason' }),
      step('unknown field, Strict', post(events, event('core-event-n', { bogus: 1 }), { fieldValidation: 'Strict' })),
      step('unknown field, Warn', post(events, event('core-event-w', { bogus: 1 }), { fieldValidation: 'Warn' })),
      step('count again', strategic(`${events}/core-event-a`, { count: 2, lastTimestamp: '2020-01-02T03:05:05Z' })),
      step('put', put(`${events}/core-event-a`, event('core-event-a', { message: 'again', count: 3 }))),
      step('put of nothing', put(`${events}/core-event-p`, event('core-event-p', {}, { resourceVersion: '1' }))),
      step('patch in a bad time', mergePatch(`${events}/core-event-a`, { lastTimestamp: 'soon' }), { compare: 'reason' }),
      step('another message', mergePatch(`${events}/core-event-a`, { message: 'patched' })),
      step('apply', apply(`${events}/core-event-s`, event('core-event-s'))),
      ...unowned([
        step('new', post(newEvents, newEvent('core-event-new', {}, { labels: { core: '1' } })), {
          remember: { newrv: '/metadata/resourceVersion' },
        }),
        step('new, in the old form', get(`${events}/core-event-new`)),
        step('new without time', post(newEvents, newEvent('core-event-n', { eventTime: null }))),
        step('new without controller', post(newEvents, newEvent('core-event-n', { reportingController: '' }))),
        step('new with a bad controller', post(newEvents, newEvent('core-event-n', { reportingController: 'a b' }))),
        step('new without instance', post(newEvents, newEvent('core-event-n', { reportingInstance: '' }))),
        step('new without action', post(newEvents, newEvent('core-event-n', { action: '' }))),
        step('new without reason', post(newEvents, newEvent('core-event-n', { reason: '' }))),
        step('new with a long note', post(newEvents, newEvent('core-event-n', { note: 'x'.repeat(1025) }))),
        step('new with a bad type', post(newEvents, newEvent('core-event-n', { type: 'Bogus' }))),
        step('new with an old field', post(newEvents, newEvent('core-event-n', { deprecatedCount: 2 }))),
        step(
          'new in another namespace',
          post(newEvents, newEvent('core-event-n', { regarding: { kind: 'Task', namespace: 'other', name: 'x' } })),
        ),
        step('new series', strategic(`${newEvents}/core-event-new`, { series: { count: 2, lastObservedTime: microTime } })),
        step('new series of one', strategic(`${newEvents}/core-event-new`, { series: { count: 1, lastObservedTime: microTime } })),
        step('new with another note', mergePatch(`${newEvents}/core-event-new`, { note: 'other' })),
        step('new with another reason', mergePatch(`${newEvents}/core-event-new`, { reason: 'Other' })),
        step('new series by JSON patch', jsonPatch(`${newEvents}/core-event-new`, [{ op: 'replace', path: '/series/count', value: 5 }])),
        step('by label', get(events, labelled)),
        step('by label in the new form', get(newEvents, labelled)),
        step('by controller', get(newEvents, { fieldSelector: 'reportingController=conformance.dev/test' }), names),
        step('by component', get(events, { fieldSelector: 'reportingComponent=conformance.dev/test' }), names),
        step('by regarding', get(newEvents, { fieldSelector: 'regarding.name=core-x,regarding.kind=Task' }), names),
        step('by involvedObject in the new form', get(newEvents, { fieldSelector: 'involvedObject.name=core-x' })),
        step('by regarding in the old form', get(events, { fieldSelector: 'regarding.name=core-x' })),
        step('as a table', get(events, labelled, { accept: tableAccept }), cells),
        step('as a table in the new form', get(newEvents, labelled, { accept: tableAccept }), cells),
        step('delete', del(`${events}/core-event-a`)),
        step('delete in the new form', del(`${newEvents}/core-event-new`)),
        step('delete collection', del(newEvents, undefined, { fieldSelector: 'regarding.name=core-x' }), {
          pick: (body) => [
            at(body, '/kind'),
            at(body, '/apiVersion'),
            (at(body, '/items') as unknown[]).map((item) => at(item, '/metadata/name')),
          ],
        }),
      ]),
    ],
  },
  {
    name: 'core-namespace',
    steps: [
      step('create', post('/api/v1/namespaces', namespace('core-namespace-a', {}, { labels: { core: '1' } })), rememberVersion),
      step('get', get('/api/v1/namespaces/core-namespace-a')),
      step('get the status', get('/api/v1/namespaces/core-namespace-a/status')),
      step('status of a new one is ours', post('/api/v1/namespaces', namespace('core-namespace-b', { status: { phase: 'Terminating' } }))),
      ...unowned([
        step('a finalizer of its own', post('/api/v1/namespaces', namespace('core-namespace-c', { spec: { finalizers: ['a.dev/x'] } }))),
        step(
          'unknown field, Strict',
          post('/api/v1/namespaces', namespace('core-namespace-n', { spec: { bogus: 1 } }), { fieldValidation: 'Strict' }),
        ),
        step(
          'unknown field, Warn',
          post('/api/v1/namespaces', namespace('core-namespace-w', { spec: { bogus: 1 } }), { fieldValidation: 'Warn' }),
        ),
        step('put', put('/api/v1/namespaces/core-namespace-a', namespace('core-namespace-a', {}, { labels: { core: '2' } }))),
        step('spec cannot change', mergePatch('/api/v1/namespaces/core-namespace-a', { spec: { finalizers: ['kubernetes', 'a.dev/y'] } }), {
          pick: (body) => at(body, '/spec'),
        }),
        step(
          'status by patch',
          strategic('/api/v1/namespaces/core-namespace-a/status', {
            metadata: { annotations: { x: 'y' } },
            status: { conditions: [{ type: 'X', status: 'True', reason: 'R', message: 'M', lastTransitionTime: time }] },
          }),
        ),
        step(
          'more status by patch',
          strategic('/api/v1/namespaces/core-namespace-a/status', {
            status: { conditions: [{ type: 'Y', status: 'False', lastTransitionTime: time }] },
          }),
        ),
        step(
          'status by merge patch',
          mergePatch('/api/v1/namespaces/core-namespace-a/status', { status: { conditions: [{ type: 'X', status: 'True' }] } }),
        ),
        step(
          'unknown status, Strict',
          { ...mergePatch('/api/v1/namespaces/core-namespace-a/status', { status: { bogus: 1 } }), query: { fieldValidation: 'Strict' } },
          { compare: 'reason' },
        ),
        step(
          'a condition without status',
          mergePatch('/api/v1/namespaces/core-namespace-a/status', { status: { conditions: [{ type: 'X' }] } }),
        ),
        step('apply', apply('/api/v1/namespaces/core-namespace-a', namespace('core-namespace-a', {}, { labels: { s: 't' } }))),
        step(
          'apply the status',
          apply(
            '/api/v1/namespaces/core-namespace-a/status',
            namespace('core-namespace-a', { status: { conditions: [{ type: 'Z', status: 'True', lastTransitionTime: time }] } }),
          ),
        ),
        step(
          'finalize',
          put(
            '/api/v1/namespaces/core-namespace-a/finalize',
            namespace('core-namespace-a', { spec: { finalizers: ['kubernetes', 'a.dev/x'] } }),
          ),
        ),
        step(
          'finalize badly',
          put('/api/v1/namespaces/core-namespace-a/finalize', namespace('core-namespace-a', { spec: { finalizers: ['bad one'] } })),
        ),
        step(
          'finalize back',
          put('/api/v1/namespaces/core-namespace-a/finalize', namespace('core-namespace-a', { spec: { finalizers: ['kubernetes'] } })),
        ),
        step('get of finalize', get('/api/v1/namespaces/core-namespace-a/finalize')),
        step('patch of finalize', mergePatch('/api/v1/namespaces/core-namespace-a/finalize', {})),
        step('by label', get('/api/v1/namespaces', { labelSelector: 'kubernetes.io/metadata.name=core-namespace-a' })),
        step('by phase', get('/api/v1/namespaces', { fieldSelector: 'status.phase=Active,metadata.name=core-namespace-b' }), names),
        step('by name field', get('/api/v1/namespaces', { fieldSelector: 'name=core-namespace-b' }), {}),
        step('by namespace field', get('/api/v1/namespaces', { fieldSelector: 'metadata.namespace=x' })),
        step('delete of all', del('/api/v1/namespaces', undefined, { labelSelector: 'core=1' })),
      ]),
    ],
  },
  {
    name: 'core-watch',
    steps: [
      step('start', get(configMaps, { labelSelector: 'core=watch' }), { ...listVersion, pick: () => '' }),
      step('create', post(configMaps, configMap('core-watch-a', { data: { a: '1' } }, { labels: { core: 'watch' } }))),
      step('change', mergePatch(`${configMaps}/core-watch-a`, { data: { a: '2' } })),
      step('leave', mergePatch(`${configMaps}/core-watch-a`, { metadata: { labels: { core: 'no' } } })),
      step('enter', mergePatch(`${configMaps}/core-watch-a`, { metadata: { labels: { core: 'watch' } } })),
      step('delete', del(`${configMaps}/core-watch-a`)),
      step(
        'the watch',
        get(configMaps, { watch: 'true', resourceVersion: '{{start}}', labelSelector: 'core=watch', timeoutSeconds: '5' }),
        { events: 5, settle: true },
      ),
      step(
        'as metadata',
        get(configMaps, { watch: 'true', resourceVersion: '{{start}}', labelSelector: 'core=watch', timeoutSeconds: '5' }, metadataAccept),
        { events: 5 },
      ),
      step(
        'as a table',
        get(
          configMaps,
          { watch: 'true', resourceVersion: '{{start}}', labelSelector: 'core=watch', timeoutSeconds: '5' },
          { accept: tableAccept },
        ),
        { events: 5, pick: (body) => (body as unknown[]).map((one) => [at(one, '/type'), at(one, '/object/rows')]) },
      ),
      step(
        'initial events',
        get(configMaps, {
          watch: 'true',
          sendInitialEvents: 'true',
          resourceVersionMatch: 'NotOlderThan',
          allowWatchBookmarks: 'true',
          labelSelector: 'core=watch',
          timeoutSeconds: '5',
        }),
        { events: 1 },
      ),
      step('new events', get(newEvents, { watch: 'true', fieldSelector: 'regarding.name=core-watch-x', timeoutSeconds: '5' }), {
        events: 1,
        pick: withoutOwners,
        meanwhile: [post(newEvents, newEvent('core-watch-e', { regarding: { kind: 'Task', namespace: 'default', name: 'core-watch-x' } }))],
      }),
      step('one namespace', get('/api/v1/watch/namespaces/default', { timeoutSeconds: '5' }), {
        events: 1,
        pick: (body) => (body as unknown[]).map((one) => [at(one, '/type'), at(one, '/object/kind')]),
      }),
    ],
  },
];
