/** Questions to the desks of our own daemon (`/messages` and the like): its refusals come back as the errors they were there. */
import { AgentisoError, type ErrorCode } from '#lib/errors.ts';
import type { Connection } from './connection.ts';
import { requestJson, send } from './resource-api.ts';
import { StatusError } from './status-error.ts';

export interface DeskCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export async function askDesk<T>(connection: Connection, call: DeskCall): Promise<T> {
  try {
    return await requestJson<T>(connection, toRequest(call));
  } catch (error) {
    throw asItWas(error, connection);
  }
}

/** What a desk says line by line, until it or the signal ends. */
export async function* deskLines<T>(connection: Connection, call: DeskCall): AsyncIterable<T> {
  try {
    const response = await send(connection, toRequest(call));
    for await (const line of response.lines()) yield JSON.parse(line) as T;
  } catch (error) {
    throw asItWas(error, connection);
  }
}

function toRequest({ method, path, query = {}, body, signal }: DeskCall) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(Object.fromEntries(given.map(([key, value]) => [key, String(value)]))).toString();
  return {
    method,
    path: search === '' ? path : `${path}?${search}`,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    ...(signal ? { signal } : {}),
  };
}

function asItWas(error: unknown, connection: Connection): unknown {
  if (!(error instanceof StatusError)) return error;
  const { causes = [] } = error.status.details ?? {};
  const [cause] = causes;
  if (cause?.reason === undefined) return error.status.code === 404 ? withoutDesk(error, connection) : error;
  return new AgentisoError(cause.reason as ErrorCode, error.message, {
    ...(cause.message === undefined ? {} : { hint: cause.message }),
    cause: error,
  });
}

/** Another Kubernetes, or an older daemon. */
function withoutDesk(error: StatusError, { name }: Connection): AgentisoError {
  return new AgentisoError('NotFound', `${name} does not know this; it is no agentiso daemon, or an older one`, { cause: error });
}
