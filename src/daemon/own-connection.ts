/** The API as parts of the daemon itself reach it: who asks and what may be is decided as ever, but objects need no wire. */
import type { ApiRequest, ApiResponse, Connection } from '#client/connection.ts';
import { freezeJson } from '#lib/json.ts';
import type { Api } from '#server/api.ts';
import { personIdentity } from '#server/auth/identity.ts';
import type { Answer } from '#server/call.ts';

export interface OwnConnectionOptions {
  readonly ask: Api['ask'];
  /** For what needs one: watches, logs, desks. */
  readonly wire: Connection;
}

/** As on the private socket: whoever shows a token is the one it belongs to. */
const PRIVATE = { identity: personIdentity('admin', 'admin') };

export function ownConnection({ ask, wire }: OwnConnectionOptions): Connection {
  return {
    ...wire,
    async request(request) {
      request.signal?.throwIfAborted();
      const { method, path, headers = {}, body } = request;
      const asked = ask({ method, path, headers, ...(body === undefined ? {} : { body }) }, PRIVATE);
      return asked ? toResponse(await asked, request) : wire.request(request);
    },
  };
}

function toResponse({ status, body, object, contentType = 'application/json', headers }: Answer, { signal }: ApiRequest): ApiResponse {
  const text = async () => {
    signal?.throwIfAborted();
    return typeof body === 'string' ? body : body.toString();
  };
  const named = Object.entries(headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    Array.isArray(value) && value.length === 1 ? value[0] : value,
  ]);
  return {
    status,
    headers: { 'content-type': contentType, ...Object.fromEntries(named) },
    text,
    // Once per version of it: what is frozen stays so.
    ...(object && { object: freezeJson(object) }),
    async *lines() {
      yield* (await text()).split('\n').filter((line) => line !== '');
    },
    async *chunks() {
      yield await text();
    },
  };
}
