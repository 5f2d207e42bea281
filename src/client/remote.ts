/** The client over a Kubernetes-style API: the same words and the same errors as `local.ts`, with a daemon in another process. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Kind } from '#api/kind.ts';
import { kindNamed } from '#api/kinds.ts';
import { DEFAULT_NAMESPACE, type Draft, type KindObject, type ObjectKey } from '#api/meta.ts';
import { InvalidError } from '#lib/errors.ts';
import type { ApplyOptions, Client, DeleteOptions, ListOptions, ListResult, WatchEvent, WatchOptions } from './client.ts';
import type { ApiRequest, Connection } from './connection.ts';
import { toClientError } from './remote-errors.ts';
import { type ApiObject, listObjects, type Query, requestJson, resourcePath, watchEvents } from './resource-api.ts';

/** A server that ends watches as soon as they begin is not asked again at once. */
const PAUSE_MS = 1_000;
const JSON_BODY = { 'content-type': 'application/json' };
/** Also valid YAML, which is what the type promises. */
const APPLY_BODY = { 'content-type': 'application/apply-patch+yaml' };
/** Unknown fields are refused, as the store refuses them. */
const STRICT: Query = { fieldValidation: 'Strict' };

export function remoteClient(connection: Connection): Client {
  const call = async <T>(request: ApiRequest): Promise<T> => {
    try {
      return toObject(await requestJson<ApiObject>(connection, request)) as unknown as T;
    } catch (error) {
      throw toClientError(error);
    }
  };
  const write = async <T>(method: 'PUT' | 'PATCH', obj: Draft, { subresource, query, ...request }: WriteCall = {}) => {
    const { name = '', namespace } = obj.metadata;
    const location = {
      namespace: namespace ?? DEFAULT_NAMESPACE,
      name,
      query: { ...STRICT, ...query },
      ...(subresource ? { subresource } : {}),
    };
    return call<T>({ method, path: resourcePath(kindOf(obj.kind), location), headers: JSON_BODY, body: JSON.stringify(obj), ...request });
  };
  return {
    get: async <T extends KindObject>(key: ObjectKey) => call<T>({ method: 'GET', path: pathOf(key) }),
    list: <T extends KindObject>(kind: string, options: ListOptions = {}) => listRemote<T>(connection, kind, options),
    watch: <T extends KindObject>(kind: string, options: WatchOptions) => watchRemote<T>(connection, kind, options),
    create: async <T extends KindObject>(obj: Draft<T>) => {
      const { namespace = DEFAULT_NAMESPACE } = obj.metadata;
      const path = resourcePath(kindOf(obj.kind), { namespace, query: STRICT });
      return call<T>({ method: 'POST', path, headers: JSON_BODY, body: JSON.stringify(obj) });
    },
    update: <T extends KindObject>(obj: T) => write<T>('PUT', obj),
    updateStatus: <T extends KindObject>(obj: T) => write<T>('PUT', obj, { subresource: 'status' }),
    apply: async <T extends KindObject>(config: Draft<T>, { fieldManager, force = false }: ApplyOptions) => {
      if (!config.metadata.name) throw new InvalidError('metadata.name: Required value: what is applied needs a name');
      return write<T>('PATCH', config as Draft, { headers: APPLY_BODY, query: { fieldManager, force } });
    },
    async delete(key: ObjectKey, { propagationPolicy, preconditions }: DeleteOptions = {}) {
      const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy, preconditions };
      await call({ method: 'DELETE', path: pathOf(key), headers: JSON_BODY, body: JSON.stringify(options) });
    },
  };
}

interface WriteCall {
  readonly subresource?: string;
  readonly query?: Query;
  readonly headers?: Readonly<Record<string, string>>;
}

function kindOf(name: string): Kind {
  const kind = kindNamed(name);
  if (!kind) throw new InvalidError(`unknown kind ${JSON.stringify(name)}`);
  return kind;
}

function pathOf({ kind, namespace, name }: ObjectKey): string {
  return resourcePath(kindOf(kind), { namespace, name });
}

/** Objects without a namespace have an empty one with us. */
function toObject(object: ApiObject): KindObject {
  return { ...object, metadata: { namespace: '', ...object.metadata } } as unknown as KindObject;
}

interface ListCall extends ListOptions {
  readonly signal?: AbortSignal;
}

async function listRemote<T extends KindObject>(connection: Connection, kind: string, options: ListCall): Promise<ListResult<T>> {
  const { namespace, labelSelector, fieldSelector, signal } = options;
  const location = { namespace, query: { labelSelector, fieldSelector } };
  try {
    const { items, resourceVersion } = await listObjects(connection, { resource: kindOf(kind), location, ...(signal ? { signal } : {}) });
    return { items: items.map(toObject) as unknown as readonly T[], resourceVersion };
  } catch (error) {
    throw toClientError(error);
  }
}

async function* watchRemote<T extends KindObject>(
  connection: Connection,
  kind: string,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const { signal } = options;
  if (signal.aborted) return;
  try {
    yield* watchOn<T>(connection, kind, options);
  } catch (error) {
    // A request that was cut because nobody wants its answer any more is no failure.
    if (!signal.aborted) throw toClientError(error);
  }
}

async function* watchOn<T extends KindObject>(connection: Connection, kind: string, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
  const { signal } = options;
  let version = options.resourceVersion ?? (yield* existing<T>(connection, kind, options));
  // Servers end a watch from time to time; the next one goes on where it ended.
  while (!signal.aborted) {
    const before: string = version;
    version = yield* changes<T>(connection, kind, { ...options, resourceVersion: before });
    if (version === before) await delay(PAUSE_MS, undefined, { signal });
  }
}

/** What is there; gives the version to go on from. */
async function* existing<T extends KindObject>(
  connection: Connection,
  kind: string,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>, string> {
  const { items, resourceVersion } = await listRemote<T>(connection, kind, options);
  for (const object of items) {
    if (options.signal.aborted) break;
    yield { type: 'ADDED', object };
  }
  return resourceVersion;
}

/** What happens until the server ends the stream; gives the version to go on from. */
async function* changes<T extends KindObject>(
  connection: Connection,
  kind: string,
  { namespace, signal, resourceVersion = '', ...selectors }: WatchOptions,
): AsyncGenerator<WatchEvent<T>, string> {
  const query = { ...selectors, watch: true, allowWatchBookmarks: true, resourceVersion };
  let version = resourceVersion;
  for await (const { type, object } of watchEvents(connection, { path: resourcePath(kindOf(kind), { namespace, query }), signal })) {
    if (signal.aborted) break;
    version = object.metadata.resourceVersion ?? version;
    if (type !== 'BOOKMARK') yield { type, object: toObject(object) as T };
  }
  return version;
}
