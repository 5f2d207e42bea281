/** Random requests to the API: real ones, changed in one or more places. */
import { OURS, THEIRS } from './api-teams.ts';

export interface Random {
  /** From 0, below the limit. */
  below(limit: number): number;
  chance(of: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** xorshift32: the same numbers from the same seed on every machine. */
export function randomFrom(seed: number): Random {
  let state = (Math.imul(seed, 2_654_435_761) ^ 0x9e3779b9) >>> 0 || 1;
  const below = (limit: number) => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % limit;
  };
  return { below, chance: (of) => below(of) === 0, pick: (from) => from[below(from.length)] as (typeof from)[number] };
}

export interface FuzzRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Buffer | undefined;
}

const GROUP = '/apis/agentiso.dev/v1alpha1';
const PLURALS = ['teams', 'agents', 'tasks', 'merges', 'configmaps', 'events', 'namespaces', 'leases', 'services'];
const METHODS = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'PROPFIND'];
const NAMES = [
  OURS,
  THEIRS,
  `${OURS}-one`,
  `${OURS}-two`,
  `${THEIRS}-one`,
  `${OURS}-worker`,
  `${THEIRS}-merge`,
  'theirs',
  'a',
  'b',
  'c',
  'Bad_Name',
  '',
  '..',
  '%2e%2e',
  '%00',
  'x'.repeat(300),
  '__proto__',
  'constructor',
  'status',
  'é',
].map(encodeURI);
const TYPES = [
  'application/json',
  'application/yaml',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.kubernetes.protobuf',
  'text/plain',
  'application/json; charset=utf-8',
  '',
  'garbage',
];
const ACCEPTS = [
  'application/json',
  'application/yaml',
  '*/*',
  'application/json;as=Table;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  'application/json;as=PartialObjectMetadata;v=v1beta1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf,application/json',
  'text/html',
  ';;;',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
];
const DOCUMENTS = [
  '/',
  '/api',
  '/apis',
  '/api/v1',
  GROUP,
  '/apis/agentiso.dev',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/apis/agentiso.dev/v1alpha1',
  '/version',
  '/version/',
  '/healthz',
  '/readyz',
  '/livez/ping',
  '/metrics',
  '/tokens',
  '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
  '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
  '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  '/apis/events.k8s.io/v1/events',
];
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  limit: ['1', '2', '0', '-1', '999999999999', 'x', ''],
  continue: ['x', 'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJkZWZhdWx0L2FcdTAwMDAifQ', '', '%00'],
  resourceVersion: ['0', '1', '5', '99999999', '-1', 'x', '', '18446744073709551615'],
  resourceVersionMatch: ['Exact', 'NotOlderThan', 'x', ''],
  labelSelector: ['a=b', 'secret', '!secret', 'a in (b,c)', 'a in (', 'a>1', ',,', '%F0%9F%98%80', 'secret=ours'],
  fieldSelector: [
    `metadata.name=${OURS}`,
    'spec.team=crew',
    'status.phase!=Ready',
    'x=y',
    'metadata.name',
    '=',
    '\\',
    `spec.team=${THEIRS}`,
  ],
  fieldManager: ['fuzz', '', 'x'.repeat(200), '%00', 'other'],
  force: ['true', 'false', ''],
  dryRun: ['All', 'x', ''],
  fieldValidation: ['Strict', 'Warn', 'Ignore', 'x'],
  propagationPolicy: ['Background', 'Foreground', 'Orphan', 'x'],
  gracePeriodSeconds: ['0', '-5', 'x'],
  pretty: ['true', ''],
  includeObject: ['None', 'Object', 'Metadata', 'x'],
  sendInitialEvents: ['true', 'false'],
  allowWatchBookmarks: ['true'],
  timeout: ['1s', 'x', '0s'],
  orphanDependents: ['true'],
  __proto__: ['x'],
};

export function randomRequest(random: Random): FuzzRequest {
  return random.below(3) > 0 ? plausibleRequest(random) : wildRequest(random);
}

function wildRequest(random: Random): FuzzRequest {
  const method = random.pick(METHODS);
  const body = method === 'GET' || method === 'HEAD' ? undefined : randomBody(random);
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['Content-Type'] = random.pick(TYPES);
  if (random.chance(2)) headers['Accept'] = random.pick(ACCEPTS);
  if (random.chance(20)) headers[random.pick(ODD_HEADERS)] = random.pick(['"x"', '*', 'gzip', 'a/b', '']);
  return { method, path: randomPath(random), headers, body };
}

const ODD_HEADERS = ['X-Garbage', 'If-None-Match', 'Kubectl-Command', 'User-Agent', 'Content-Encoding', 'Impersonate-User', 'Origin'];
const STORED = ['Team', 'Agent', 'Task', 'Task', 'Merge', 'ConfigMap', 'Namespace'];
const PATCHES = [
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/apply-patch+yaml',
];

/** One that could well succeed: method, path, body and its type belong together, and often little is wrong with them. */
function plausibleRequest(random: Random): FuzzRequest {
  const kind = random.pick(STORED);
  const object = objectOf(kind, random);
  const { name } = object['metadata'] as { name: string };
  const plural = `${kind.toLowerCase()}s`;
  const prefix = STORED.indexOf(kind) < 5 ? GROUP : '/api/v1';
  const collection = `${prefix}${kind === 'Namespace' ? '' : '/namespaces/default'}/${plural}`;
  const headers: Record<string, string> = random.chance(3) ? { Accept: random.pick(ACCEPTS.slice(0, 5)) } : {};
  const method = random.pick(['GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'PATCH', 'PATCH', 'DELETE']);
  const isWide = method === 'POST' || (method === 'GET' && random.chance(2)) || (method === 'DELETE' && random.chance(30));
  const status = !isWide && random.chance(8) ? '/status' : '';
  const path = `${collection}${isWide ? '' : `/${encodeURIComponent(name)}${status}`}`;
  if (method === 'GET' || method === 'DELETE')
    return { method, path: `${path}${random.chance(2) ? randomQuery(random) : ''}`, headers, body: undefined };
  const type = method === 'PATCH' ? random.pick(PATCHES) : 'application/json';
  headers['Content-Type'] = type;
  const query = type === 'application/apply-patch+yaml' ? `?fieldManager=${random.pick(['a', 'b'])}&force=${random.chance(2)}` : '';
  if (type === 'application/json-patch+json')
    return { method, path: `${path}${query}`, headers, body: JSON.stringify(randomPatch(random)) };
  if (random.chance(2)) change(object, random);
  return { method, path: `${path}${query || (random.chance(4) ? randomQuery(random) : '')}`, headers, body: JSON.stringify(object) };
}

function randomPath(random: Random): string {
  const path = random.chance(8) ? random.pick(DOCUMENTS) : resourcePath(random);
  return `${random.chance(15) ? mutated(path, random) : path}${randomQuery(random)}`;
}

function resourcePath(random: Random): string {
  const plural = random.pick(PLURALS);
  const prefix = random.chance(25)
    ? random.pick(['/apis/none/v1', '/api/v2', '/apis/events.k8s.io/v1'])
    : PLURALS.indexOf(plural) < 4
      ? GROUP
      : '/api/v1';
  const namespace = plural === 'namespaces' || random.chance(10) ? '' : `/namespaces/${random.chance(12) ? random.pick(NAMES) : 'default'}`;
  const watch = random.chance(40) ? '/watch' : '';
  const name = random.chance(3) ? '' : `/${random.pick(NAMES)}`;
  const subresource = random.chance(6) ? `/${random.pick(['status', 'scale', 'log', 'x', ''])}` : '';
  return `${prefix}${watch}${namespace}/${plural}${name}${subresource}`;
}

function randomQuery(random: Random): string {
  const parts: string[] = [];
  while (random.chance(2) && parts.length < 5) {
    const name = random.pick(Object.keys(PARAMETERS));
    parts.push(`${name}=${encodeURI(random.pick(PARAMETERS[name] ?? ['']))}`);
  }
  // A watch would go on for ever, so each has an end at once.
  parts.push(random.chance(15) ? 'watch=true&timeoutSeconds=1' : 'timeoutSeconds=1');
  if (random.chance(10)) parts.push('&&=%&%zz=&a[b]=c');
  return `?${parts.join('&')}`;
}

/** Characters that a client can send, so that the request gets out at all. */
function mutated(path: string, random: Random): string {
  const at = random.below(path.length + 1);
  const inserted = random.pick([
    '/',
    '//',
    '%',
    '%2f',
    '%00',
    '..',
    ';',
    ':',
    '@',
    '%ff',
    '%F0%9F%98%80',
    '.',
    '',
    '/namespaces/',
    'watch/',
  ]);
  return `/${(path.slice(0, at) + inserted + path.slice(at + random.below(3))).replace(/^\/+/, '')}`;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

function randomBody(random: Random): string | Buffer {
  switch (random.below(12)) {
    case 0:
      return Buffer.from(Array.from({ length: random.below(200) }, () => random.below(256)));
    case 1:
      return Buffer.concat([
        Buffer.from('k8s\0', 'latin1'),
        Buffer.from(Array.from({ length: random.below(100) }, () => random.below(256))),
      ]);
    case 2:
      return JSON.stringify(randomJson(random, 4));
    case 3:
      return random.pick([
        '',
        '{',
        '[]',
        'null',
        '"x"',
        'a: b\na: c\n',
        '- - - -',
        '&a [*a]',
        '!!js/function x',
        '{"a":1}{"b":2}',
        '---\n---\n',
        '\uFEFF{}',
        '{"__proto__":{"x":1}}',
      ]);
    case 4:
      return JSON.stringify(randomPatch(random));
    case 5:
      return JSON.stringify({
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        propagationPolicy: random.pick(['Orphan', 'Foreground', 'x']),
        preconditions: randomJson(random, 2),
      });
    default:
      return randomObjectText(random);
  }
}

function randomObjectText(random: Random): string {
  const object = randomObject(random);
  const times = random.below(3);
  for (let index = 0; index < times; index++) change(object, random);
  const text = JSON.stringify(object);
  if (!random.chance(12)) return text;
  const at = random.below(text.length);
  return text.slice(0, at) + random.pick(['"', '{', ',', '\\', '\0', 'é', '']) + text.slice(at + 1);
}

function randomObject(random: Random): { [key: string]: Json } {
  const kinds = ['Team', 'Agent', 'Task', 'Merge', 'ConfigMap', 'Event', 'Namespace', 'Lease', 'SelfSubjectAccessReview', 'Nothing'];
  return objectOf(random.pick(kinds), random);
}

function objectOf(kind: string, random: Random): { [key: string]: Json } {
  const team = random.chance(4) ? THEIRS : OURS;
  const name = random.pick([`${OURS}-one`, `${OURS}-${random.below(20)}`, `${THEIRS}-one`, OURS, `f${random.below(50)}`, 'Bad_Name']);
  const specs: Record<string, Json> = {
    Team: { roles: [{ name: 'worker', count: 1 }], description: 'fuzz' },
    Agent: { team },
    Task: {
      team,
      title: 'fuzz',
      ...(random.chance(2) ? { command: 'true' } : { prompt: 'please' }),
      priority: 1 + random.below(6),
      dependsOn: [`${OURS}-one`],
    },
    Merge: { team, sources: [{ agent: 'worker' }], target: { branch: 'main' } },
    SelfSubjectAccessReview: { resourceAttributes: { verb: 'get', resource: 'tasks', namespace: 'default' } },
  };
  const metadata: { [key: string]: Json } = { name };
  if (random.chance(3)) metadata['labels'] = { a: 'b', [random.pick(['x', 'a/b', '-bad'])]: random.pick(['1', '', 'a b']) };
  if (random.chance(8)) metadata['finalizers'] = random.pick<Json>([['example.com/hold'], [], null]);
  if (random.chance(8)) metadata['resourceVersion'] = random.pick(['1', '0', '', 'x']);
  if (random.chance(10)) metadata['namespace'] = random.pick(['default', 'other', '']);
  if (random.chance(15))
    metadata['managedFields'] = random.pick<Json>([
      [],
      [{}],
      'x',
      [{ manager: 'x', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': {} } }],
    ]);
  if (random.chance(15)) metadata['ownerReferences'] = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' }];
  return {
    apiVersion: specs[kind] && kind !== 'SelfSubjectAccessReview' ? 'agentiso.dev/v1alpha1' : 'v1',
    kind,
    metadata,
    ...(specs[kind] === undefined ? { data: { a: 'b' } } : { spec: specs[kind] ?? null }),
    ...(random.chance(5) ? { status: { phase: random.pick(['Ready', 'Failed', 'x']) } } : {}),
  };
}

/** Somewhere in the tree something else. */
function change(value: { [key: string]: Json }, random: Random): void {
  const key = random.pick(Object.keys(value));
  const child = value[key];
  if (child !== null && typeof child === 'object' && !Array.isArray(child) && Object.keys(child).length > 0 && !random.chance(3))
    change(child, random);
  else if (random.chance(4)) delete value[key];
  else if (random.chance(3)) value[random.pick(['extra', '__proto__x', 'constructor', 'toString', ''])] = randomJson(random, 2);
  else value[key] = randomJson(random, 3);
}

function randomJson(random: Random, depth: number): Json {
  switch (random.below(depth > 0 ? 9 : 7)) {
    case 0:
      return null;
    case 1:
      return random.chance(2);
    case 2:
      return random.pick([0, -1, 1e308, 2 ** 53, 0.5, 7]);
    case 3:
      return random.pick(['', 'x', 'é', '\0', 'a\nb', '😀', 'true', '1', 'x'.repeat(5_000), OURS]);
    case 4:
      return [];
    case 5:
      return {};
    case 6:
      return 'y';
    case 7:
      return Array.from({ length: random.below(4) }, () => randomJson(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.below(4) }, () => [
          random.pick(['a', 'name', 'spec', 'metadata', 'kind', '.', 'f:x']),
          randomJson(random, depth - 1),
        ]),
      );
  }
}

function randomPatch(random: Random): Json {
  const paths = [
    '/spec/title',
    '/metadata/labels/a',
    '/metadata/name',
    '/metadata/managedFields',
    '/spec',
    '',
    '/',
    '/status/phase',
    '/spec/dependsOn/0',
    '/spec/dependsOn/-',
    '/metadata/resourceVersion',
    '/x/y',
    '/metadata/labels/a~1b',
  ];
  return Array.from({ length: random.below(5) }, () => ({
    op: random.pick(['add', 'remove', 'replace', 'move', 'copy', 'test', 'x']),
    path: random.pick(paths),
    from: random.pick(paths),
    value: randomJson(random, 2),
  }));
}
