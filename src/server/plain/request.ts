/**
 * A request of HTTP/1.1 that can be read in one way only: whole, alone, with a plain head and a length. Pure. Everything else is left
 * to node:http, which knows what to do with it, or refuses it.
 */
import type { IncomingHttpHeaders } from 'node:http';

export interface PlainRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** By their names in small letters; not to be changed. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

const REQUEST_LINE = /^(GET|PUT|POST|PATCH|DELETE) (\/[!-~]*) HTTP\/1\.1$/;
const HEADER_LINE = /^([\w!#$%&'*+.^`|~-]+):[\t ]*([!-~](?:[\t -~]*[!-~])?)?[\t ]*$/;
const LENGTH = /^(?:0|[1-9][0-9]{0,6})$/;
const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 8 * 1024;

/** They say how the bytes are to be read, or what the connection is to become. */
const SPECIAL = new Set([
  'content-encoding',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Undefined for everything that is not plain, not whole, or not alone. */
export function plainRequest(bytes: Buffer): PlainRequest | undefined {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0 || end > MAX_HEAD_BYTES) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const cut = head.indexOf('\r\n');
  const [, method, path] = REQUEST_LINE.exec(cut < 0 ? head : head.slice(0, cut)) ?? [];
  if (method === undefined || path === undefined) return undefined;
  const headers = cut < 0 ? {} : headersIn(head.slice(cut + 2));
  if (headers === undefined) return undefined;
  const length = bodyLength(method, headers['content-length']);
  const start = end + HEAD_END.length;
  return length === bytes.length - start ? { method, path, headers, body: bytes.subarray(start) } : undefined;
}

/** A client sends the same headers with every request, or nearly so. */
const recent = new Map<string, IncomingHttpHeaders>();
const MAX_RECENT = 64;

function headersIn(text: string): IncomingHttpHeaders | undefined {
  const known = recent.get(text);
  if (known) return known;
  const headers = plainHeaders(text.split('\r\n'));
  // A token is not kept longer than it is needed.
  if (headers && headers.authorization === undefined) {
    if (recent.size === MAX_RECENT) recent.clear();
    recent.set(text, Object.freeze(headers));
  }
  return headers;
}

function plainHeaders(lines: readonly string[]): IncomingHttpHeaders | undefined {
  const headers: IncomingHttpHeaders = {};
  for (const line of lines) {
    const [, given, value = ''] = HEADER_LINE.exec(line) ?? [];
    if (given === undefined) return undefined;
    const name = given.toLowerCase();
    // What is there twice means what node:http takes it for.
    if (SPECIAL.has(name) || name in headers) return undefined;
    if (name === 'connection' && value.toLowerCase() !== 'keep-alive') return undefined;
    headers[name] = value;
  }
  return headers;
}

/** Undefined where it is not said as it should be. */
function bodyLength(method: string, given: string | undefined): number | undefined {
  if (given === undefined) return method === 'GET' || method === 'DELETE' ? 0 : undefined;
  return LENGTH.test(given) && (method !== 'GET' || given === '0') ? Number(given) : undefined;
}
