/** One request of HTTP/1.1 as it goes over the wire. Pure. */
import { InvalidError } from '#lib/errors.ts';
import type { ApiRequest } from './connection.ts';

/** Servers wait for a body after these, unless they are told that there is none. */
const WITH_BODY: readonly string[] = ['POST', 'PUT', 'PATCH'];

export function requestText({ method, path, headers = {}, body }: ApiRequest): string {
  // Whoever names a path or a value must not be able to begin a line, and so a request, of their own.
  if (!/^\/[!-~]*$/.test(path)) throw new InvalidError(`${JSON.stringify(path)} is not a path of a server: encode what is not ASCII`);
  const length = body === undefined ? undefined : Buffer.byteLength(body);
  const all: Record<string, string> = { host: 'localhost', connection: 'keep-alive', accept: 'application/json', ...headers };
  if (length !== undefined || WITH_BODY.includes(method)) all['content-length'] = String(length ?? 0);
  return `${method} ${path} HTTP/1.1\r\n${Object.entries(all).map(headerLine).join('')}\r\n${body ?? ''}`;
}

function headerLine([name, value]: readonly [string, string]): string {
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t -~]*$/.test(value)) {
    throw new InvalidError(`${JSON.stringify(`${name}: ${value}`)} cannot be a header`);
  }
  return `${name}: ${value}\r\n`;
}
