import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readBody } from './request-body.ts';
import { sendFailure } from './respond.ts';
import type { StatusError } from './status.ts';

let dir = '';
let server: Server;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'respond-'));
  server = createServer((request, response) => {
    readBody(request).catch((error: StatusError) => sendFailure(response, error, { accept: undefined, warnings: [] }));
  });
  await once(server.listen(join(dir, 's')), 'listening');
});

afterEach(async () => {
  server.closeAllConnections();
  await once(server.close(), 'close');
  rmSync(dir, { recursive: true });
});

const PIECE = Buffer.alloc(64 * 1024, 'x');

/** Sends a body to its end, and only then reads, as simple clients do. */
async function sendFirst(head: string, pieces: number): Promise<{ answer: string; error: string | undefined }> {
  const socket = createConnection(join(dir, 's'));
  let error: string | undefined;
  socket.on('error', (problem: NodeJS.ErrnoException) => {
    error = problem.code;
  });
  await once(socket, 'connect');
  socket.write(head);
  const gone = once(socket, 'close').catch(() => {});
  for (let piece = 0; piece < pieces && error === undefined; piece += 1) {
    if (!socket.write(PIECE)) await Promise.race([new Promise<void>((resolve) => socket.once('drain', resolve)), gone]);
  }
  const answer: Buffer[] = [];
  socket.on('data', (bytes: Buffer) => answer.push(bytes));
  await gone;
  return { answer: Buffer.concat(answer).toString(), error };
}

it.each(['Connection: close', 'Connection: keep-alive'])(
  'answers a body that is too large also when it is all sent before the answer is read (%s)',
  async (connection) => {
    server.keepAliveTimeout = 200;
    const pieces = 256;
    const head = `POST / HTTP/1.1\r\nHost: localhost\r\n${connection}\r\nContent-Length: ${pieces * PIECE.length}\r\n\r\n`;
    const { answer, error } = await sendFirst(head, pieces);
    expect(error).toBeUndefined();
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toMatch(/"code":413\}$/);
  },
);

it.each(['Content-Length: 1073741824', 'Transfer-Encoding: chunked'])('cuts off who sends without end (%s)', async (body) => {
  const head = `POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${body}\r\n\r\n40000000\r\n`;
  const { error } = await sendFirst(head, 16_384);
  expect(['EPIPE', 'ECONNRESET']).toContain(error);
});
