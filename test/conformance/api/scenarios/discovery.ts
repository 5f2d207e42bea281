/** Discovery documents and OpenAPI, as far as they are about our group. */
import { at, type Scenario } from '../scenario.ts';
import { apply, get, mergePatch, otherPatch, post, put, step } from './requests.ts';

type JsonObject = Record<string, unknown>;

const aggregated = (version: string) => ({ accept: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList` });
/** The real server lists the resources of definitions in the order it came to know them. */
const byName = (key: string) => (a: JsonObject, b: JsonObject) => (String(a[key]) < String(b[key]) ? -1 : 1);
const ours = (body: unknown) => {
  const { items, ...rest } = body as { items: JsonObject[] };
  const found = items.filter((item) => at(item, '/metadata/name') === 'agentiso.dev') as { versions: { resources: JsonObject[] }[] }[];
  for (const { resources } of found.flatMap(({ versions }) => versions)) {
    resources.sort(byName('resource'));
  }
  return { ...rest, items: found };
};
const ourGroup = (body: unknown) => {
  const { groups, ...rest } = body as { groups: JsonObject[] };
  return { ...rest, groups: groups.filter((one) => one['name'] === 'agentiso.dev') };
};
const withoutHashes = (body: unknown) => {
  const { resources, ...rest } = body as { resources: JsonObject[] };
  return { ...rest, resources: resources.map(({ storageVersionHash: _opaque, ...resource }) => resource).sort(byName('name')) };
};
const resourceNamed = (name: string, keys: string[]) => (body: unknown) => {
  const found = ((at(body, '/resources') ?? []) as JsonObject[]).find((one) => one['name'] === name) ?? {};
  return Object.fromEntries(keys.map((key) => [key, found[key] ?? null]));
};
const kind = (body: unknown) => at(body, '/kind') ?? typeof body;
const labelsOf = (body: unknown) => (at(body, '/kind') === 'Status' ? body : [at(body, '/kind'), at(body, '/metadata/labels')]);
const documentHeaders = ['etag', 'vary', 'cache-control'];

/** The schema of a kind without texts. */
const schemaOf = (name: string) => (body: unknown) => {
  const schemas = at(body, '/components/schemas') as JsonObject;
  const found = Object.entries(schemas).find(([key]) => key.endsWith(`agentiso.v1alpha1.${name}`));
  return { key: found?.[0], schema: withoutTexts(found?.[1]) };
};
function withoutTexts(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withoutTexts);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const entries = Object.entries(value).filter(([key, item]) => !(key === 'description' && typeof item === 'string'));
  return Object.fromEntries(entries.map(([key, item]) => [key, withoutTexts(item)]));
}
const operation = (path: string, method: string) => (body: unknown) => {
  const found = ((at(body, '/paths') as JsonObject)[path] ?? {}) as JsonObject;
  const verb = (found[method] ?? {}) as { parameters?: JsonObject[] } & JsonObject;
  const names = (list: unknown) => ((list ?? []) as JsonObject[]).map((one) => `${String(one['in'])} ${String(one['name'])}`).sort();
  return {
    methods: Object.keys(found).sort(),
    action: verb['x-kubernetes-action'],
    kind: verb['x-kubernetes-group-version-kind'],
    parameters: names(verb.parameters),
    shared: names(found['parameters']),
    request: Object.keys((at(verb, '/requestBody/content') ?? {}) as JsonObject).sort(),
    responses: Object.keys((verb['responses'] ?? {}) as JsonObject).sort(),
  };
};
const root = '/apis/agentiso.dev/v1alpha1';
const document = '/openapi/v3/apis/agentiso.dev/v1alpha1';

export const discoveryScenarios: Scenario[] = [
  {
    name: 'discovery',
    steps: [
      step('aggregated v2', get('/apis', {}, aggregated('v2')), {
        pick: ours,
        headers: ['etag', 'vary'],
        remember: { etag: 'header:etag' },
      }),
      step('aggregated v2beta1', get('/apis', {}, aggregated('v2beta1')), { pick: kind }),
      step('aggregated v2 of the core group', get('/api', {}, aggregated('v2')), { pick: kind }),
      step('aggregated of another version', get('/apis', {}, aggregated('v9'))),
      step('aggregated of another version with fallback', get('/apis', {}, { accept: `${aggregated('v9').accept},application/json` }), {
        pick: ourGroup,
      }),
      step(
        'what kubectl asks',
        get('/apis', {}, { accept: `${aggregated('v2').accept},${aggregated('v2beta1').accept},application/json` }),
        { pick: kind },
      ),
      step(
        'what newer kubectl asks',
        get('/apis', { timeout: '32s' }, { accept: `${aggregated('v2').accept};profile=nopeer,application/json` }),
        { pick: kind },
      ),
      step('aggregated v2, not changed', get('/apis', {}, { ...aggregated('v2'), 'if-none-match': '{{etag}}' }), {
        headers: ['etag', 'vary'],
      }),
      step('groups', get('/apis'), { pick: ourGroup }),
      step('groups with a slash', get('/apis/'), { pick: kind }),
      step('groups as YAML', get('/apis', {}, { accept: 'application/yaml' }), { pick: (body) => kind(at(body, '/yaml')) }),
      step('the group', get('/apis/agentiso.dev')),
      step('the group with a slash', get('/apis/agentiso.dev/')),
      step('the version', get('/apis/agentiso.dev/v1alpha1'), { pick: withoutHashes }),
      step('the version with a slash', get('/apis/agentiso.dev/v1alpha1/'), { pick: kind }),
      step('the version as a table', get('/apis/agentiso.dev/v1alpha1', {}, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })),
      step('another version', get('/apis/agentiso.dev/v9')),
      step('another group', get('/apis/bogus.dev')),
      step('another version of another group', get('/apis/bogus.dev/v1')),
      step('the group of definitions', get('/apis/apiextensions.k8s.io'), {
        pick: (body) => [kind(body), at(body, '/name'), at(body, '/preferredVersion')],
      }),
      step('the resources of definitions', get('/apis/apiextensions.k8s.io/v1'), {
        pick: resourceNamed('customresourcedefinitions', ['name', 'singularName', 'kind', 'namespaced', 'shortNames', 'categories']),
      }),
      step('namespaces among the core resources', get('/api/v1'), {
        pick: resourceNamed('namespaces', ['name', 'singularName', 'kind', 'namespaced', 'shortNames', 'verbs']),
      }),
      step('events among the core resources', get('/api/v1'), {
        pick: resourceNamed('events', ['name', 'singularName', 'kind', 'namespaced', 'shortNames']),
      }),
      step('a bad timeout', get('/apis', { timeout: 'x' })),
      step('the core versions', get('/api'), { pick: (body) => ({ ...(body as object), serverAddressByClientCIDRs: 'of the server' }) }),
      step('text is not acceptable', get('/apis/agentiso.dev', {}, { accept: 'text/plain' })),
      step('healthz', get('/healthz')),
      step('livez', get('/livez')),
      step('readyz', get('/readyz')),
      step('an unknown check', get('/healthz/bogus')),
      step('the version of the server', get('/version'), {
        pick: (body) =>
          Object.keys(body as object)
            .filter((key) => !/^(emulation|minCompatibility)/.test(key))
            .sort(),
      }),
      step('the root', get('/'), { pick: (body) => Object.keys(body as object) }),
    ],
  },
  {
    name: 'openapi',
    steps: [
      step('the index', get('/openapi/v3'), {
        pick: (body) => (at(body, '/paths') as JsonObject)['apis/agentiso.dev/v1alpha1'],
        headers: documentHeaders,
        remember: { url: '/paths/apis~1agentiso.dev~1v1alpha1/serverRelativeURL' },
      }),
      step('the document', get(document), {
        remember: { etag: 'header:etag' },
        pick: (body) => ({
          openapi: at(body, '/openapi'),
          paths: Object.keys(at(body, '/paths') as object).sort(),
          schemas: Object.keys(at(body, '/components/schemas') as object).sort(),
        }),
        headers: documentHeaders,
      }),
      step('the document, not changed', get(document, {}, { 'if-none-match': '{{etag}}' }), { headers: documentHeaders }),
      step('the document by its hash', get('{{url}}'), { pick: (body) => at(body, '/openapi'), headers: documentHeaders }),
      step('the document by another hash', get(document, { hash: 'BOGUS' }), { pick: (body) => typeof body }),
      step('a document that does not exist', get('/openapi/v3/apis/bogus.dev/v1')),
      step('Team', get(document), { pick: schemaOf('Team') }),
      step('TeamList', get(document), { pick: schemaOf('TeamList') }),
      step('Agent', get(document), { pick: schemaOf('Agent') }),
      step('Task', get(document), { pick: schemaOf('Task') }),
      step('Merge', get(document), { pick: schemaOf('Merge') }),
      step('the texts of Merge', get(document), {
        pick: (body) => at(body, '/components/schemas/dev.agentiso.v1alpha1.Merge/properties/spec'),
      }),
      ...['get', 'post', 'delete'].map((method) =>
        step(`${method} of a collection`, get(document), { pick: operation(`${root}/namespaces/{namespace}/teams`, method) }),
      ),
      ...['get', 'put', 'patch', 'delete'].map((method) =>
        step(`${method} of an object`, get(document), { pick: operation(`${root}/namespaces/{namespace}/teams/{name}`, method) }),
      ),
      ...['get', 'put', 'patch'].map((method) =>
        step(`${method} of a status`, get(document), { pick: operation(`${root}/namespaces/{namespace}/teams/{name}/status`, method) }),
      ),
      step('get of all namespaces', get(document), { pick: operation(`${root}/teams`, 'get') }),
    ],
  },
  {
    name: 'core',
    steps: [
      step('a namespace', get('/api/v1/namespaces/default'), {
        pick: (body) => [
          at(body, '/kind'),
          at(body, '/apiVersion'),
          at(body, '/metadata/name'),
          at(body, '/metadata/labels'),
          at(body, '/spec'),
          at(body, '/status'),
        ],
      }),
      step('a namespace that does not exist', get('/api/v1/namespaces/nowhere')),
      step('a namespace by name', get('/api/v1/namespaces', { fieldSelector: 'metadata.name=default' }), {
        pick: (body) => (at(body, '/items') as unknown[]).map((item) => at(item, '/metadata/name')),
      }),
      step(
        'namespaces as a table',
        get('/api/v1/namespaces', { fieldSelector: 'metadata.name=default' }, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
        { pick: (body) => ({ columnDefinitions: at(body, '/columnDefinitions'), cells: at(body, '/rows/0/cells') }) },
      ),
      step('a namespace by a bad field', get('/api/v1/namespaces', { fieldSelector: 'bogus=1' })),
      step(
        'a namespace with a bad name',
        post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'Bad_Name' } }),
      ),
      step('a namespace that exists', post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } })),
      step('a namespace of a wrong kind', post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } })),
      step(
        'a namespace in a dry run',
        post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'core-ns' } }, { dryRun: 'All' }),
        {
          pick: (body) => [
            at(body, '/kind'),
            at(body, '/metadata/name'),
            at(body, '/metadata/labels'),
            at(body, '/spec'),
            at(body, '/status'),
          ],
        },
      ),
      step('a label of a namespace', mergePatch('/api/v1/namespaces/default', { metadata: { labels: { a: 'b' } } }, { dryRun: 'All' }), {
        pick: labelsOf,
      }),
      step(
        'a label of a namespace by strategic merge',
        {
          ...otherPatch('application/strategic-merge-patch+json', '/api/v1/namespaces/default', { metadata: { labels: { a: 'b' } } }),
          query: { dryRun: 'All' },
        },
        { pick: labelsOf },
      ),
      step(
        'a namespace by apply',
        apply(
          '/api/v1/namespaces/default',
          { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', labels: { a: 'b' } } },
          { dryRun: 'All' },
        ),
        { pick: labelsOf },
      ),
      step(
        'the label that names a namespace cannot go',
        mergePatch('/api/v1/namespaces/default', { metadata: { labels: { 'kubernetes.io/metadata.name': null } } }, { dryRun: 'All' }),
        { pick: labelsOf },
      ),
      step(
        'an access review as a table',
        post(
          '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
          {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SelfSubjectAccessReview',
            spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
          },
          {},
          { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
        ),
      ),
      step('events of nothing', get('/api/v1/namespaces/default/events', { fieldSelector: 'involvedObject.name=core-none' })),
      step(
        'events by uid',
        get('/api/v1/namespaces/default/events', {
          fieldSelector:
            'involvedObject.uid=00000000-0000-0000-0000-000000000001,involvedObject.kind=Team,involvedObject.namespace=default,involvedObject.name=x',
        }),
        { pick: kind },
      ),
      step('events by reason and type', get('/api/v1/namespaces/default/events', { fieldSelector: 'reason=X,type=Warning' }), {
        pick: kind,
      }),
      step('events by a bad field', get('/api/v1/namespaces/default/events', { fieldSelector: 'bogus=1' })),
      step(
        'events as a table',
        get(
          '/api/v1/namespaces/default/events',
          { fieldSelector: 'involvedObject.name=core-none' },
          { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
        ),
      ),
      step('an event that does not exist', get('/api/v1/namespaces/default/events/core-none')),
      step(
        'an access review',
        post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes: { verb: 'get', group: 'agentiso.dev', resource: 'teams' } },
        }),
        { pick: (body) => [at(body, '/kind'), at(body, '/metadata'), at(body, '/spec'), at(body, '/status/allowed')] },
      ),
      step(
        'an access review of nothing',
        post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: {},
        }),
      ),
      step(
        'an access review of both',
        post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectAccessReview',
          spec: { resourceAttributes: { verb: 'get' }, nonResourceAttributes: { path: '/', verb: 'get' } },
        }),
      ),
      step('access reviews cannot be listed', get('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews')),
      step(
        'who am I',
        post('/apis/authentication.k8s.io/v1/selfsubjectreviews', { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
        { pick: (body) => [at(body, '/kind'), Object.keys((at(body, '/status/userInfo') ?? {}) as object).includes('username')] },
      ),
      step(
        'rules',
        post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
          apiVersion: 'authorization.k8s.io/v1',
          kind: 'SelfSubjectRulesReview',
          spec: { namespace: 'default' },
        }),
        { pick: (body) => [at(body, '/kind'), Array.isArray(at(body, '/status/resourceRules'))] },
      ),
      step('a definition', get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/teams.agentiso.dev'), {
        pick: (body) => [
          at(body, '/kind'),
          at(body, '/metadata/name'),
          at(body, '/spec/names'),
          at(body, '/spec/scope'),
          at(body, '/spec/group'),
          at(body, '/status/acceptedNames'),
          at(body, '/status/storedVersions'),
          at(body, '/status/conditions'),
        ],
      }),
      step(
        'definitions as a table',
        get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {}, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
        { pick: (body) => [at(body, '/columnDefinitions'), (at(body, '/rows') as unknown[]).map((row) => at(row, '/cells/0'))] },
      ),
      step('a definition that does not exist', get('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/bogus.agentiso.dev')),
      step('a patch of a namespace that does not exist', mergePatch('/api/v1/namespaces/nowhere', { metadata: { labels: { a: 'b' } } })),
      step(
        'a put of a namespace that does not exist',
        put('/api/v1/namespaces/nowhere', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'nowhere' } }),
      ),
    ],
  },
];
