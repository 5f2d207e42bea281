/** The calls of a Kubernetes-style API: where a resource lives, one request and its answer, lists by pages, watches. */
import { UnavailableError } from '#lib/errors.ts';
import type { JsonObject } from '#lib/json.ts';
import type { ApiRequest, ApiResponse, Connection } from './connection.ts';
import { type Status, StatusError, statusErrorOf } from './status-error.ts';

/** What a path needs to know of a resource; discovery knows more. */
export interface ResourceName {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface ResourceLocation {
  /** All namespaces when absent. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string;
  readonly query?: Query;
}

export interface ApiObject extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ApiMetadata;
}

export interface ApiMetadata extends JsonObject {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly creationTimestamp?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly uid: string; readonly kind: string; readonly name: string }[];
}

export interface WatchAnswer<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}

export const PAGE_SIZE = 500;

/** `/apis/agentiso.dev/v1alpha1/namespaces/default/teams/x?y=z` */
export function resourcePath({ group, version, plural, isNamespaced }: ResourceName, location: ResourceLocation = {}): string {
  const { namespace, name, subresource, query } = location;
  const parts = [group === '' ? `api/${version}` : `apis/${group}/${version}`];
  if (isNamespaced && namespace !== undefined && namespace !== '') parts.push('namespaces', encodeURIComponent(namespace));
  parts.push(plural);
  if (name !== undefined) parts.push(encodeURIComponent(name));
  if (subresource !== undefined) parts.push(subresource);
  return `/${parts.join('/')}${queryText(query)}`;
}

function queryText(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0 ? '' : `?${given.map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join('&')}`;
}

/** The answer, or a StatusError for everything that is not a success. */
export async function send(connection: Connection, request: ApiRequest): Promise<ApiResponse> {
  const response = await connection.request(request);
  if (response.status >= 300) throw statusErrorOf(response.status, await response.text());
  return response;
}

export async function requestJson<T = ApiObject>(connection: Connection, request: ApiRequest): Promise<T> {
  const response = await send(connection, request);
  if (response.object) return response.object as T;
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new UnavailableError(`${connection.name} answered ${request.path} with something that is not JSON`, { cause: error });
  }
}

export interface ReadOptions {
  readonly accept?: string;
  readonly signal?: AbortSignal;
}

export function getJson<T = ApiObject>(connection: Connection, path: string, { accept, signal }: ReadOptions = {}): Promise<T> {
  return requestJson<T>(connection, { method: 'GET', path, ...(accept ? { headers: { accept } } : {}), ...(signal ? { signal } : {}) });
}

interface Paged {
  readonly metadata?: { readonly continue?: string; readonly resourceVersion?: string };
}

/** A list page by page, each as it arrives. */
export async function* listPages<T extends Paged>(
  connection: Connection,
  { resource, location = {}, pageSize = PAGE_SIZE, ...read }: ListCall,
): AsyncIterable<T> {
  let token: string | undefined;
  do {
    const paging = { limit: pageSize > 0 ? pageSize : undefined, continue: token };
    const path = resourcePath(resource, { ...location, query: { ...location.query, ...paging } });
    const page = await getJson<T>(connection, path, read);
    yield page;
    token = page.metadata?.continue;
  } while (token);
}

export interface ListCall extends ReadOptions {
  readonly resource: ResourceName;
  readonly location?: ResourceLocation;
  /** 0: everything at once. */
  readonly pageSize?: number;
}

export interface ObjectList {
  readonly items: readonly ApiObject[];
  readonly resourceVersion: string;
}

/** Everything of a list. Lists do not repeat kind and apiVersion in their items everywhere; here they do. */
export async function listObjects(connection: Connection, call: ListCall): Promise<ObjectList> {
  const items: ApiObject[] = [];
  let resourceVersion = '';
  for await (const page of listPages<Paged & ApiObject & { items: ApiObject[] | null }>(connection, call)) {
    const typed = { apiVersion: page.apiVersion, kind: page.kind.replace(/List$/, '') };
    for (const item of page.items ?? []) items.push({ ...typed, ...item });
    resourceVersion = page.metadata.resourceVersion ?? '';
  }
  return { items, resourceVersion };
}

export interface WatchCall {
  /** With `watch=true` in its query. */
  readonly path: string;
  readonly accept?: string;
  readonly signal: AbortSignal;
}

/** Ends when the server ends the stream or the signal aborts; an ERROR event is thrown as the StatusError it carries. */
export async function* watchEvents<T = ApiObject>(
  connection: Connection,
  { path, accept, signal }: WatchCall,
): AsyncIterable<WatchAnswer<T>> {
  const response = await send(connection, { method: 'GET', path, signal, ...(accept ? { headers: { accept } } : {}) });
  for await (const line of response.lines()) {
    const event = JSON.parse(line) as { type: string; object: unknown };
    if (event.type === 'ERROR') throw new StatusError(event.object as Status);
    yield event as WatchAnswer<T>;
  }
}
