import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../call.ts';
import { openPlainDoor, type PlainDoor } from './door.ts';

/** Answers what is below /plain by itself, and leaves the rest to node:http. */
const asked: string[] = [];
const held: (() => void)[] = [];
const api = {
  ask({ method, path, body = '' }: { method: string; path: string; body?: string | Buffer }): Promise<Answer> | undefined {
    if (!path.startsWith('/plain')) return undefined;
    asked.push(`${method} ${path} ${body}`);
    const answer = {
      status: path.endsWith('none') ? 404 : 200,
      body: path.endsWith('large') ? 'x'.repeat(8_000_000) : `you said: ${body}`,
    };
    return path.endsWith('held') ? new Promise((resolve) => held.push(() => resolve(answer))) : Promise.resolve(answer);
  },
};

let folder: string;
let server: Server;
let door: PlainDoor;
const path = () => join(folder, 's');

beforeEach(async () => {
  asked.length = 0;
  held.length = 0;
  folder = mkdtempSync(join(tmpdir(), 'agentiso-plain-'));
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => response.end(`node heard: ${request.method} ${request.url} ${Buffer.concat(chunks)}`));
  });
  door = openPlainDoor(server, { api, channel: {}, idleMs: 60_000 });
  server.listen(path());
  await once(server, 'listening');
});
afterEach(async () => {
  door.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  rmSync(folder, { recursive: true });
});

interface Client {
  readonly socket: Socket;
  send(text: string): void;
  until(text: string): Promise<string>;
  readonly closed: Promise<string>;
}

async function open(): Promise<Client> {
  const socket = connect(path());
  let received = '';
  const listeners = new Set<() => void>();
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk;
    for (const listener of listeners) listener();
  });
  socket.on('error', () => {});
  const closed = new Promise<string>((resolve) => socket.on('close', () => resolve(received)));
  await once(socket, 'connect');
  return {
    socket,
    send: (text) => void socket.write(text, 'latin1'),
    until: (text) =>
      new Promise((resolve) => {
        const look = () => received.includes(text) && resolve(received);
        listeners.add(look);
        look();
      }),
    closed,
  };
}

const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`;
const put = (target: string, body: string) => `PUT ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe('the plain door', () => {
  it('answers one plain request after the other, as node:http would write it', async () => {
    const client = await open();
    client.send(get('/plain/a'));
    const first = await client.until('said: ');
    const names = first.split('\r\n').map((line) => line.replace(/: .*/, ''));
    expect(names.slice(0, -2)).toEqual([
      'HTTP/1.1 200 OK',
      ...['Audit-Id', 'Cache-Control', 'Content-Type', 'Content-Length', 'Date', 'Connection', 'Keep-Alive'],
    ]);
    client.send(put('/plain/b', 'hello'));
    expect(await client.until('hello')).toMatch(/Content-Length: 15\r\n[\s\S]*you said: hello$/);
    client.send(get('/plain/none'));
    expect(await client.until('404 ')).toContain('HTTP/1.1 404 Not Found\r\n');
    expect(asked).toEqual(['GET /plain/a ', 'PUT /plain/b hello', 'GET /plain/none ']);
    client.socket.destroy();
  });

  it('gives the connection to node:http with the first request that is not for it, and does not take it back', async () => {
    const client = await open();
    client.send(get('/plain/a'));
    await client.until('you said');
    client.send(put('/other', 'bytes that were read already'));
    await client.until('node heard: PUT /other bytes that were read already');
    client.send(get('/plain/b'));
    await client.until('node heard: GET /plain/b');
    client.send(`GET /plain/c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(await client.closed).toContain('node heard: GET /plain/c');
    expect(asked).toEqual(['GET /plain/a ']);
  });

  it.each([
    ['a request in two pieces', ['GET /plain/a HT', 'TP/1.1\r\nHost: a\r\n\r\n'], ['GET /plain/a ']],
    ['a body of its own', ['PUT /plain/a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n', 'xy'], ['PUT /plain/a xy']],
    ['two requests at once', [get('/plain/a') + get('/plain/b')], ['GET /plain/a ', 'GET /plain/b ']],
    ['chunks', ['PUT /plain/a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nxy\r\n0\r\n\r\n'], ['PUT /plain/a xy']],
  ])('leaves %s to node:http', async (_name, pieces, heard) => {
    const client = await open();
    for (const piece of pieces) {
      client.send(piece);
      // Or the pieces would arrive as one.
      if (pieces.length > 1) await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    }
    for (const each of heard) await client.until(`node heard: ${each}`);
    client.socket.destroy();
  });

  it('lets what is no HTTP be refused', async () => {
    const client = await open();
    client.send('hello\r\n\r\n');
    expect(await client.closed).toContain('HTTP/1.1 400 ');
  });

  it('keeps what comes while it answers, in its order', async () => {
    const client = await open();
    client.send(get('/plain/held'));
    await expect.poll(() => held.length).toBe(1);
    client.send(get('/plain/b'));
    client.send(get('/other'));
    held[0]?.();
    await client.until('node heard: GET /other');
    const all = await client.until('node heard: GET /plain/b').catch(() => '');
    expect(all.indexOf('you said')).toBeLessThan(all.indexOf('node heard: GET /plain/b'));
    client.socket.destroy();
  });

  it('answers a client that has said that it will say no more', async () => {
    const client = await open();
    client.send(get('/plain/held'));
    await expect.poll(() => held.length).toBe(1);
    client.socket.end();
    held[0]?.();
    expect(await client.closed).toMatch(/you said: $/);
  });

  it('takes no further request from a client that does not read', async () => {
    const client = await open();
    client.socket.pause();
    client.send(get('/plain/large'));
    await expect.poll(() => asked.length).toBe(1);
    client.send(get('/plain/large'));
    const [other] = await Promise.all([open(), new Promise((resolve) => setImmediate(resolve))]);
    other.send(get('/plain/b'));
    await other.until('you said');
    expect(asked).toEqual(['GET /plain/large ', 'GET /plain/b ']);
    client.socket.resume();
    await expect.poll(() => asked.length).toBe(3);
    client.socket.destroy();
    other.socket.destroy();
  });

  it('ends what is idle when it closes, and the rest with its answer', async () => {
    const [idle, busy] = [await open(), await open()];
    busy.send(get('/plain/held'));
    await expect.poll(() => held.length).toBe(1);
    door.close();
    expect(await idle.closed).toBe('');
    held[0]?.();
    expect(await busy.closed).toMatch(/Connection: close\r\n[\s\S]*you said: $/);
  });

  it('waits for nobody when it is cut', async () => {
    const busy = await open();
    busy.send(get('/plain/held'));
    await expect.poll(() => held.length).toBe(1);
    door.close();
    door.cut();
    expect(await busy.closed).toBe('');
    held[0]?.();
  });
});
