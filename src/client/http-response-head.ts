/** The head of an answer of HTTP/1.1: what it says, and how long the body after it is. Pure; refuses what is not clear. */

export interface ResponseHead {
  readonly status: number;
  /** Names in lower case; what is there more than once is joined, as node:http does it. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type BodyLength = { readonly kind: 'bytes'; readonly count: number } | { readonly kind: 'chunked' | 'until-close' };

export interface ParsedHead extends ResponseHead {
  readonly body: BodyLength;
  /** The server keeps the connection for another request. */
  readonly isKept: boolean;
}

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9][0-9][0-9])(?: [\t -~\x80-\xff]*)?$/;
const HEADER_LINE = /^([\w!#$%&'*+.^`|~-]+):[\t ]*([\t -~\x80-\xff]*)$/;

/** Of these the first counts. */
const SINGLE = ['age', 'content-type', 'date', 'etag', 'expires', 'last-modified', 'location', 'retry-after', 'server'];

export function parseHead([first = '', ...lines]: readonly string[], method: string): ParsedHead {
  const [, minor, code] = STATUS_LINE.exec(first) ?? [];
  if (code === undefined) throw new Error('the answer is not HTTP/1.1');
  const status = Number(code);
  const headers = parseHeaders(lines);
  const body = bodyLength(headers);
  const isWithout = method === 'HEAD' || status < 200 || status === 204 || status === 304;
  return {
    status,
    headers,
    body: isWithout ? { kind: 'bytes', count: 0 } : body,
    isKept: isKept(String(headers['connection'] ?? ''), minor === '1'),
  };
}

function parseHeaders(lines: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (const line of lines) {
    const [, name, value] = HEADER_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error('the answer has a header that is none');
    addHeader(headers, name.toLowerCase(), value.trimEnd());
  }
  return headers;
}

function addHeader(headers: Record<string, string | string[]>, name: string, value: string): void {
  const before = headers[name];
  if (name === 'set-cookie') headers[name] = [...(before ?? []), value];
  else if (before === undefined) headers[name] = value;
  else if (!SINGLE.includes(name)) headers[name] = `${before}, ${value}`;
}

/** Two lengths, or one that is not plain, are two opinions on where the next answer begins. */
function bodyLength(headers: Readonly<Record<string, string | string[]>>): BodyLength {
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    if (length !== undefined || String(coding).toLowerCase() !== 'chunked') throw new Error('the answer has an unknown length');
    return { kind: 'chunked' };
  }
  if (length === undefined) return { kind: 'until-close' };
  if (!/^[0-9]{1,15}$/.test(String(length))) throw new Error('the answer has an unknown length');
  return { kind: 'bytes', count: Number(length) };
}

function isKept(connection: string, isByDefault: boolean): boolean {
  const words = connection.toLowerCase().split(/[\t ,]+/);
  return isByDefault ? !words.includes('close') : words.includes('keep-alive');
}
