/** The body of a request, whole, within limits of size. How long it may take is the listener's limit. */
import type { IncomingMessage } from 'node:http';
import { failure } from './status.ts';

/** Kubernetes' own limit. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;

export function readBody(request: IncomingMessage): Promise<Buffer> {
  const { 'content-length': length, 'content-encoding': encoding } = request.headers;
  if (encoding !== undefined && encoding !== 'identity') {
    return Promise.reject(failure(415, `the body of the request is encoded as ${encoding}; only plain bodies are accepted`));
  }
  if (Number(length ?? 0) > MAX_BODY_BYTES) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) {
        request.removeAllListeners('data');
        reject(tooLarge());
      } else chunks.push(chunk);
    });
    let isWhole = false;
    const broken = (cause?: unknown) => {
      if (!isWhole) reject(failure(400, 'the request ended before its body did', { cause }));
    };
    request.on('end', () => {
      isWhole = true;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    request.on('error', broken);
    request.on('close', broken);
  });
}

function tooLarge() {
  return failure(413, `Request entity too large: limit is ${MAX_BODY_BYTES}`);
}
