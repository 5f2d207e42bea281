/**
 * A request of HTTP/1.1 that can be read in one way only: whole, alone, with a plain head and a length. Pure. Everything else is left
 * to node:http, which knows what to do with it, or refuses it.
 */
import type { IncomingHttpHeaders } from 'node:http';

export interface PlainRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** By their names in small letters. */
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
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const [, method, path] = REQUEST_LINE.exec(first) ?? [];
  if (method === undefined || path === undefined) return undefined;
  const headers = plainHeaders(lines);
  if (headers === undefined) return undefined;
  const length = bodyLength(method, headers['content-length']);
  const start = end + HEAD_END.length;
  return length === bytes.length - start ? { method, path, headers, body: bytes.subarray(start) } : undefined;
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
