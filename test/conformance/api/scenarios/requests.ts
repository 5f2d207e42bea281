/** Short ways to write the objects and requests of scenarios. */
import type { Request, Step } from '../scenario.ts';

export const group = '/apis/agentiso.dev/v1alpha1';
export const namespace = `${group}/namespaces/default`;

export type Query = NonNullable<Request['query']>;
export type Headers = NonNullable<Request['headers']>;
type Fields = Readonly<Record<string, unknown>>;
type Extra = Pick<Request, 'query' | 'headers'>;

export const tableAccept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

const object = (kind: string, metadata: Fields, spec: Fields) => ({ apiVersion: 'agentiso.dev/v1alpha1', kind, metadata, spec });

export const team = (name: string, spec: Fields = {}, metadata: Fields = {}) =>
  object('Team', { name, ...metadata }, { roles: [{ name: 'dev' }], ...spec });

export const task = (name: string, spec: Fields = {}, metadata: Fields = {}) =>
  object('Task', { name, ...metadata }, { team: 'shop', command: 'make', ...spec });

export const agent = (name: string, spec: Fields = {}, metadata: Fields = {}) =>
  object('Agent', { name, ...metadata }, { team: 'shop', ...spec });

export const merge = (name: string, spec: Fields = {}, metadata: Fields = {}) =>
  object('Merge', { name, ...metadata }, { team: 'shop', sources: [{ agent: 'a' }], target: { branch: 'main' }, ...spec });

/** `what` is a resource, a resource/name or a resource/name/subresource of the default namespace. */
const request = (method: string, what: string, body: unknown, extra: Extra = {}): Request => ({
  method,
  path: /^(\/|\{\{)/.test(what) ? what : `${namespace}/${what}`,
  ...(body === undefined ? {} : { body }),
  ...extra,
});

export const get = (what: string, query: Query = {}, headers: Headers = {}): Request => request('GET', what, undefined, { query, headers });

export const post = (what: string, body: unknown, query: Query = {}, headers: Headers = {}): Request =>
  request('POST', what, body, { query, headers });

export const put = (what: string, body: unknown, query: Query = {}, headers: Headers = {}): Request =>
  request('PUT', what, body, { query, headers });

export const del = (what: string, body?: unknown, query: Query = {}, headers: Headers = {}): Request =>
  request('DELETE', what, body, { query, headers });

const patch =
  (type: string) =>
  (what: string, body: unknown, query: Query = {}): Request =>
    request('PATCH', what, body, { query, headers: { 'content-type': type } });

export const jsonPatch = patch('application/json-patch+json');
export const mergePatch = patch('application/merge-patch+json');
export const otherPatch = (type: string, what: string, body: unknown) => patch(type)(what, body);

/** Server-side apply. */
export const apply = (what: string, body: unknown, query: Query = {}): Request =>
  patch('application/apply-patch+yaml')(what, body, { fieldManager: 'one', ...query });

export const step = (name: string, ask: Request, extra: Omit<Step, 'name' | 'request'> = {}): Step => ({ name, request: ask, ...extra });

export const rememberVersion = { remember: { rv: '/metadata/resourceVersion', uid: '/metadata/uid' } };
export const listVersion = { remember: { start: '/metadata/resourceVersion' } };
export const condition = (type: string, reason: string) => ({
  type,
  status: 'True',
  reason,
  message: '',
  lastTransitionTime: '2020-01-02T03:04:05Z',
});
