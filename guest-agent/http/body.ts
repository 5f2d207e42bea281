/** Bodies of requests: JSON of a bounded size, or a file's content. */
import type { IncomingMessage } from 'node:http';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { toFields } from '#protocol/shape.ts';

/** A message is at most 256 KiB, which JSON may make six times longer. */
const MAX_JSON_BYTES = 2 * 1024 * 1024;
/** Of what is asked of the host: what a frame holds, with room for what stands around it. */
export const MAX_ASKED_BYTES = 4 * 1024 * 1024 - 64 * 1024;

export type Fields = Readonly<Record<string, unknown>>;

/** Throws for fields that are not among `allowed`. */
export async function readFields(request: IncomingMessage, allowed: readonly string[]): Promise<Fields> {
  const fields = await readObject(request, MAX_JSON_BYTES);
  const unknown = Object.keys(fields).find((name) => !allowed.includes(name));
  if (unknown !== undefined)
    throw new ProtocolError('Invalid', `unknown field ${JSON.stringify(unknown.slice(0, 100))}: there are ${allowed.join(', ')}`);
  return fields;
}

/** A body that is empty is an object without fields. */
export async function readObject(request: IncomingMessage, maxBytes: number): Promise<Fields> {
  const body = await readAll(request, maxBytes);
  return toFields(body.length === 0 ? {} : parse(body), 'the body');
}

export async function readJson(request: IncomingMessage, maxBytes: number): Promise<unknown> {
  return parse(await readAll(request, maxBytes));
}

/** Refused by its length before anything is read, where it has one. */
export function checkLength(request: IncomingMessage, maxBytes: number): void {
  const bytes = Number(request.headers['content-length'] ?? 0);
  if (bytes > maxBytes) throw new ProtocolError('TooLarge', `a body of ${bytes} bytes is over the limit of ${maxBytes}`);
}

/** Who stops reading in the middle still has to answer: the connection stays. */
export function contentOf(request: IncomingMessage): AsyncIterable<Buffer> {
  return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

async function readAll(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  checkLength(request, maxBytes);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of contentOf(request)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ProtocolError('TooLarge', `a body of more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch (error) {
    throw new ProtocolError('Invalid', 'the body must be JSON in UTF-8', error);
  }
}
