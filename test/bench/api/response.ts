/** The head of an HTTP/1.1 response, as far as the benchmarks' client needs it. Pure. */

export interface ResponseHead {
  readonly status: number;
  /** Where the body begins. */
  readonly bodyStart: number;
  /** Undefined: chunked, or until the connection ends. */
  readonly contentLength: number | undefined;
}

const END = '\r\n\r\n';
const STATUS = /^HTTP\/1\.1 (\d{3})/;
const LENGTH = /\r\ncontent-length: *(\d+)\r\n/i;

/** Undefined: not all of the head has arrived. */
export function parseHead(bytes: Buffer): ResponseHead | undefined {
  const end = bytes.indexOf(END);
  if (end < 0) return undefined;
  const head = bytes.toString('latin1', 0, end + 2);
  const length = LENGTH.exec(head)?.[1];
  return {
    status: Number(STATUS.exec(head)?.[1] ?? 0),
    bodyStart: end + END.length,
    contentLength: length === undefined ? undefined : Number(length),
  };
}

export interface RequestParts {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly path: string;
  readonly accept?: string;
  readonly body?: string;
}

/** What a client of the API sends, byte for byte, with nothing to spare. */
export function formatRequest({ method, path, accept = 'application/json', body }: RequestParts): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\nAccept: ${accept}\r\n`;
  if (body === undefined) return `${head}\r\n`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}
