/** The headers of a request to a provider and of its answer: the real key goes in, and comes back in none. Pure. */
import type { IncomingMessage } from 'node:http';
import { endToEndHeaders } from '#lib/end-to-end-headers.ts';
import type { Provider } from './credentials.ts';

type Headers = Record<string, string | string[]>;
type Message = Pick<IncomingMessage, 'headers' | 'headersDistinct'>;

/** Where programs put keys; and what would tell the provider about this machine. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'cookie',
  'accept-encoding',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
]);

export function requestHeaders(request: Message, { baseUrl, header, prefix, apiKey }: Provider): Headers {
  const kept = Object.entries(endToEndHeaders(request)).filter(([name]) => !NOT_PASSED_ON.has(name) && name !== header);
  const headers: Headers = Object.fromEntries(kept);
  // The answer is read as it passes: how much was used, and that no key is in it.
  Object.assign(headers, { host: baseUrl.host, connection: 'close', 'accept-encoding': 'identity' });
  if (request.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
  if (apiKey !== undefined) headers[header] = `${prefix}${apiKey}`;
  return headers;
}

/** Cookies are the provider's word to whoever has the key. */
const NOT_BROUGHT_BACK: ReadonlySet<string> = new Set([
  'set-cookie',
  'content-encoding',
  'content-length',
  'alt-svc',
  'strict-transport-security',
]);

/** `isRecoded`: its bytes are not those that came. */
export function answerHeaders(answer: Message, { apiKey }: Provider, { isRecoded }: { readonly isRecoded: boolean }): Headers {
  const headers: Headers = { connection: 'close' };
  for (const [name, values] of Object.entries(endToEndHeaders(answer))) {
    const isLength = name === 'content-length' && !isRecoded;
    if (NOT_BROUGHT_BACK.has(name) && !isLength) continue;
    if (apiKey !== undefined && values.some((value) => value.includes(apiKey))) continue;
    headers[name] = values;
  }
  return headers;
}
