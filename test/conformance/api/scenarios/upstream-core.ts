/** What upstream's own tests of the API ask of kinds that are Go types there: ConfigMaps and Leases, which nothing else writes. */
import { at, type Scenario } from '../scenario.ts';
import {
  apply,
  del,
  get,
  type Headers,
  jsonPatch,
  listVersion,
  mergePatch,
  otherPatch,
  post,
  put,
  type Query,
  rememberVersion,
  step,
} from './requests.ts';

const core = '/api/v1/namespaces/default/configmaps';
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const strict = { fieldValidation: 'Strict' };
const yaml = { 'content-type': 'application/yaml' };
const map = (name: string, rest: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...rest,
});
const lease = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name, ...metadata },
  spec,
});
const owner = (uid: number, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: `x${uid}`,
  uid: `00000000-0000-0000-0000-00000000000${uid}`,
  ...more,
});
const strategic = (what: string, body: unknown, query: Query = {}) => ({
  ...otherPatch('application/strategic-merge-patch+json', what, body),
  query,
});
const accept = (form: string): Headers => ({ accept: `application/json;as=${form};v=v1;g=meta.k8s.io` });
const doubled = (name: string) =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}","unknownMeta":1,"labels":{"a":"b"},"labels":{"a":"c"}},"data":{"a":"b","a":"c"},"bogus":true,"immutable":false,"immutable":false}`;
const doubledAsYaml = (name: string) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  unknownMeta: 1\n  labels:\n    a: b\n  labels:\n    a: c\ndata:\n  a: b\n  a: c\nbogus: true\n`;
const types = (body: unknown) => (Array.isArray(body) ? body.map(({ type }) => type) : body);
const rows = (body: unknown) =>
  Array.isArray(body) ? body.map(({ type, object }) => [type, at(object, '/kind'), at(object, '/rows')]) : body;
const watchList = { watch: 'true', sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' };
const mine = { labelSelector: 'forms=core' };

export const upstreamCoreScenarios: Scenario[] = [
  {
    name: 'typed-bodies',
    steps: [
      step('JSON, Strict', post(core, doubled('typed-bodies-a'), strict)),
      step('JSON, Warn', post(core, doubled('typed-bodies-b'))),
      step('JSON, Ignore', post(core, doubled('typed-bodies-c'), { fieldValidation: 'Ignore' }), rememberVersion),
      step('YAML, Strict', post(core, doubledAsYaml('typed-bodies-d'), strict, yaml)),
      step('YAML, Warn', post(core, doubledAsYaml('typed-bodies-e'), {}, yaml)),
      step('put, Strict', put(`${core}/typed-bodies-c`, doubled('typed-bodies-c'), strict)),
      step('put, Warn', put(`${core}/typed-bodies-c`, doubled('typed-bodies-c'))),
      step('merge patch, Strict', mergePatch(`${core}/typed-bodies-c`, doubled('typed-bodies-c'), strict), { compare: 'reason' }),
      step('merge patch, Warn', mergePatch(`${core}/typed-bodies-c`, doubled('typed-bodies-c'))),
      step('strategic patch, Strict', strategic(`${core}/typed-bodies-c`, doubled('typed-bodies-c'), strict), { compare: 'reason' }),
      step('strategic patch, Warn', strategic(`${core}/typed-bodies-c`, doubled('typed-bodies-c'))),
      step('apply, Strict', apply(`${core}/typed-bodies-g`, doubledAsYaml('typed-bodies-g'), strict), { compare: 'reason' }),
      step('apply, Warn', apply(`${core}/typed-bodies-g`, doubledAsYaml('typed-bodies-g')), { compare: 'reason' }),
      step(
        'JSON patch, Strict',
        jsonPatch(
          `${core}/typed-bodies-c`,
          '[{"op":"add","path":"/data/x","value":"t","foo":"bar"},{"op":"add","path":"/x","path":"/bogus","value":"d"}]',
          strict,
        ),
        { compare: 'reason' },
      ),
      step(
        'JSON patch, Warn',
        jsonPatch(
          `${core}/typed-bodies-c`,
          '[{"op":"add","path":"/data/x","value":"t","foo":"bar"},{"op":"add","path":"/x","path":"/bogus","value":"d"}]',
        ),
      ),
      step('null for a map', post(core, map('typed-bodies-n', { data: null, binaryData: null }), strict)),
      step('null in a map', post(core, map('typed-bodies-o', { data: { a: null } }), strict)),
      step('a lease with unknown fields, Strict', post(leases, lease('typed-bodies-l', { bogus: 1, holderIdentity: 'a' }), strict)),
    ],
  },
  {
    name: 'typed-patches',
    steps: [
      step('create', post(core, map('typed-patches-a', { data: { a: 'b' } }, { labels: { a: 'b' } })), rememberVersion),
      step(
        'no resourceVersion',
        jsonPatch(`${core}/typed-patches-a`, [
          { op: 'remove', path: '/metadata/resourceVersion' },
          { op: 'add', path: '/data/b', value: 'c' },
        ]),
      ),
      step('an empty resourceVersion', mergePatch(`${core}/typed-patches-a`, { metadata: { resourceVersion: '' }, data: { c: 'd' } })),
      step('a resourceVersion that is none', mergePatch(`${core}/typed-patches-a`, { metadata: { resourceVersion: 'x' } })),
      step('an old resourceVersion', mergePatch(`${core}/typed-patches-a`, { metadata: { resourceVersion: '{{rv}}' }, data: { d: 'e' } })),
      step('an old resourceVersion and nothing new', mergePatch(`${core}/typed-patches-a`, { metadata: { resourceVersion: '{{rv}}' } })),
      step('another uid', mergePatch(`${core}/typed-patches-a`, { metadata: { uid: 'x' } })),
      step('another name', mergePatch(`${core}/typed-patches-a`, { metadata: { name: 'x' } })),
      step('another namespace', mergePatch(`${core}/typed-patches-a`, { metadata: { namespace: 'x' } })),
      step('another kind', mergePatch(`${core}/typed-patches-a`, { kind: 'Secret' })),
      step('another version', mergePatch(`${core}/typed-patches-a`, { apiVersion: 'v9' })),
      step('no kind', jsonPatch(`${core}/typed-patches-a`, [{ op: 'remove', path: '/kind' }])),
      step('no metadata', jsonPatch(`${core}/typed-patches-a`, [{ op: 'remove', path: '/metadata' }])),
      step('selfLink', mergePatch(`${core}/typed-patches-a`, { metadata: { selfLink: '/x' } })),
      step('creationTimestamp', mergePatch(`${core}/typed-patches-a`, { metadata: { creationTimestamp: '2020-01-01T00:00:00Z' } })),
      step('deletionTimestamp', mergePatch(`${core}/typed-patches-a`, { metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } })),
      step('generation', mergePatch(`${core}/typed-patches-a`, { metadata: { generation: 7 } })),
      step('labels as null', mergePatch(`${core}/typed-patches-a`, { metadata: { labels: null } })),
      step('a label that is a number', mergePatch(`${core}/typed-patches-a`, { metadata: { labels: { a: 7 } } }), { compare: 'reason' }),
      step('data that is a number', mergePatch(`${core}/typed-patches-a`, { data: { a: 7 } }), { compare: 'reason' }),
      step('a failed test', jsonPatch(`${core}/typed-patches-a`, [{ op: 'test', path: '/data/a', value: 'z' }]), { compare: 'reason' }),
      step('a strategic patch that is a list', strategic(`${core}/typed-patches-a`, [])),
      step('a strategic patch that is no JSON', strategic(`${core}/typed-patches-a`, 'x'), { compare: 'reason' }),
      step('a strategic patch of owners', strategic(`${core}/typed-patches-a`, { metadata: { ownerReferences: [owner(1)] } })),
      step('a strategic patch of more owners', strategic(`${core}/typed-patches-a`, { metadata: { ownerReferences: [owner(2)] } })),
      step(
        'a strategic patch that removes an owner',
        strategic(`${core}/typed-patches-a`, { metadata: { ownerReferences: [{ $patch: 'delete', uid: owner(1).uid }] } }),
      ),
      step(
        'a strategic patch that removes a finalizer',
        strategic(`${core}/typed-patches-a`, { metadata: { finalizers: ['a.b/c', 'a.b/d'] } }),
      ),
      step(
        'by a list of its own',
        strategic(`${core}/typed-patches-a`, { metadata: { '$deleteFromPrimitiveList/finalizers': ['a.b/c', 'a.b/d'] } }),
      ),
      step(
        'a strategic patch that orders',
        strategic(`${core}/typed-patches-a`, {
          metadata: { '$setElementOrder/ownerReferences': [{ uid: owner(2).uid }, { uid: owner(3).uid }], ownerReferences: [owner(3)] },
        }),
      ),
      step('a strategic patch that keeps some keys', strategic(`${core}/typed-patches-a`, { data: { $retainKeys: ['a'], a: 'z' } })),
      step('a strategic patch that replaces', strategic(`${core}/typed-patches-a`, { data: { $patch: 'replace', y: 'z' } })),
      step('at the end', get(`${core}/typed-patches-a`)),
    ],
  },
  {
    name: 'typed-updates',
    steps: [
      step('create with a version', post(core, map('typed-updates-a', {}, { resourceVersion: '1' }))),
      step('create', post(core, map('typed-updates-a', { data: { a: 'b' } })), rememberVersion),
      step('put without a version', put(`${core}/typed-updates-a`, map('typed-updates-a', { data: { a: 'c' } }))),
      step(
        'put with an old version',
        put(`${core}/typed-updates-a`, map('typed-updates-a', { data: { a: 'd' } }, { resourceVersion: '{{rv}}' })),
      ),
      step('put with version 0', put(`${core}/typed-updates-a`, map('typed-updates-a', { data: { a: 'd' } }, { resourceVersion: '0' }))),
      step(
        'put with another uid',
        put(`${core}/typed-updates-a`, map('typed-updates-a', { data: { a: 'd' } }, { uid: '00000000-0000-0000-0000-000000000001' })),
        { compare: 'reason' },
      ),
      step('put of another kind', put(`${core}/typed-updates-a`, { ...map('typed-updates-a'), kind: 'Secret' })),
      step(
        'put with a bad owner',
        put(`${core}/typed-updates-a`, map('typed-updates-a', {}, { ownerReferences: [owner(1, { uid: '' })] })),
        { compare: 'reason' },
      ),
      step(
        'put with both finalizers',
        put(`${core}/typed-updates-a`, map('typed-updates-a', {}, { finalizers: ['orphan', 'foregroundDeletion'] })),
        { compare: 'reason' },
      ),
      step('a delete with a precondition', del(`${core}/typed-updates-a`, { preconditions: { resourceVersion: '1' } })),
      step('a delete with a uid', del(`${core}/typed-updates-a`, { preconditions: { uid: '00000000-0000-0000-0000-000000000001' } })),
      step('a delete in the foreground', del(`${core}/typed-updates-a`, { propagationPolicy: 'Foreground' })),
      step(
        'a put while it is deleted',
        put(`${core}/typed-updates-a`, map('typed-updates-a', { data: { late: 'x' } }, { finalizers: ['foregroundDeletion'] })),
      ),
      step('a put that lets it go', put(`${core}/typed-updates-a`, map('typed-updates-a', { data: { late: 'x' } }))),
      step('it is gone', get(`${core}/typed-updates-a`)),
      step('a lease', post(leases, lease('typed-updates-l', { holderIdentity: 'a' })), rememberVersion),
      step('a lease by put without a version', put(`${leases}/typed-updates-l`, lease('typed-updates-l', { holderIdentity: 'b' }))),
      step(
        'a lease by patch without a version',
        jsonPatch(`${leases}/typed-updates-l`, [{ op: 'remove', path: '/metadata/resourceVersion' }]),
      ),
      step('a lease by apply', apply(`${leases}/typed-updates-l`, lease('typed-updates-l', { leaseDurationSeconds: 5 }))),
      step('a lease by apply, conflict', apply(`${leases}/typed-updates-l`, lease('typed-updates-l', { holderIdentity: 'c' }))),
    ],
  },
  {
    name: 'typed-forms',
    steps: [
      step('create a', post(core, map('typed-forms-a', { data: { a: 'b' } }, { labels: { forms: 'core' } }))),
      step('create b', post(core, map('typed-forms-b', {}, { labels: { forms: 'core' } }))),
      step('a list', get(core, mine), { ...listVersion, pick: (body) => at(body, '/kind') }),
      step('metadata by WatchList', get(core, { ...watchList, ...mine }, accept('PartialObjectMetadata')), { events: 3 }),
      step('tables by WatchList', get(core, { ...watchList, ...mine }, accept('Table')), { events: 3, pick: rows }),
      step('a WatchList of one', get(core, { ...watchList, fieldSelector: 'metadata.name=typed-forms-a' }), { events: 2 }),
      step('pages', get(core, { ...mine, limit: '1' }), { remember: { token: '/metadata/continue' } }),
      step('the next page', get(core, { ...mine, limit: '1', continue: '{{token}}' })),
      step('a page as a table', get(core, { ...mine, limit: '1' }, accept('Table')), {
        pick: (body) => [at(body, '/kind'), at(body, '/metadata'), at(body, '/rows')],
      }),
      step('the watch prefix', get('/api/v1/watch/namespaces/default/configmaps', { ...mine, resourceVersion: '0' }), {
        events: 2,
        settle: true,
        pick: types,
      }),
      step('the watch prefix of one', get('/api/v1/watch/namespaces/default/configmaps/typed-forms-a', { resourceVersion: '0' }), {
        events: 1,
        settle: true,
        pick: types,
      }),
      step('the watch prefix of all', get('/api/v1/watch/configmaps', { ...mine, resourceVersion: '0' }), {
        events: 2,
        settle: true,
        pick: types,
      }),
      step('a change', mergePatch(`${core}/typed-forms-a`, { data: { a: 'c' } }), { pick: (body) => at(body, '/data') }),
      step('leaves', mergePatch(`${core}/typed-forms-a`, { metadata: { labels: { forms: 'other' } } }), {
        pick: (body) => at(body, '/metadata/labels'),
      }),
      step('leaves for good', del(`${core}/typed-forms-a`), { pick: (body) => at(body, '/status') }),
      step('from the list on', get(core, { ...mine, watch: 'true', resourceVersion: '{{start}}' }), { events: 2 }),
      step('a bad field', get(core, { fieldSelector: 'data.a=b' })),
      step('a bad field by watch', get(core, { watch: 'true', fieldSelector: 'data.a=b' })),
      step('a bad field to delete by', del(core, undefined, { fieldSelector: 'data.a=b' })),
    ],
  },
];
