/** The body of a POST at `/mcp`, within limits, and what kind of messages are in it. */
import type { IncomingMessage } from 'node:http';
import { isRequestId, MAX_MESSAGE_BYTES, type RequestId } from '#lib/json-rpc.ts';

export type Body = { readonly value: unknown } | { readonly problem: 'too large' | 'no JSON' | 'cut off' };

/** What is too large is still read to its end, or a client that sends would never see the answer; one without end is cut off. */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024;

export async function readJson(request: IncomingMessage, maxBytes = MAX_MESSAGE_BYTES): Promise<Body> {
  const bytes = await readBytes(request, maxBytes);
  if (typeof bytes === 'string') return { problem: bytes };
  try {
    return { value: JSON.parse(bytes.toString('utf8')) };
  } catch {
    return { problem: 'no JSON' };
  }
}

function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer | 'too large' | 'cut off'> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    if (request.destroyed) resolve('cut off');
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else if (bytes > MAX_DROPPED_BYTES) resolve('too large');
    });
    request.on('end', () => resolve(bytes > maxBytes ? 'too large' : Buffer.concat(chunks)));
    request.on('error', () => resolve('cut off'));
    request.on('close', () => resolve('cut off'));
  });
}

export function isInitialize(body: unknown): boolean {
  return typeof body === 'object' && body !== null && (body as { readonly method?: unknown }).method === 'initialize';
}

/** Of the requests in it. */
export function requestIds(body: unknown): readonly RequestId[] {
  const messages = Array.isArray(body) ? body : [body];
  return messages.flatMap((message) => {
    const { id, method } = (message ?? {}) as { readonly id?: unknown; readonly method?: unknown };
    return typeof method === 'string' && isRequestId(id) ? [id] : [];
  });
}
