/** What every connection does, whatever it is made of. */
import { getEventListeners, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createRawServer, type Server as RawServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UnavailableError } from '#lib/errors.ts';
import type { ApiRequest, ApiResponse, Connection } from './connection.ts';
import { type HttpTarget, httpConnection } from './http-connection.ts';
import { socketConnection } from './socket-connection.ts';

type Open = (target: HttpTarget & { readonly socketPath: string }) => Connection | Promise<Connection>;
const CONNECTIONS: readonly { name: string; open: Open }[] = [
  { name: 'node:http', open: httpConnection },
  { name: 'a plain socket', open: socketConnection },
];

const GET: ApiRequest = { method: 'GET', path: '/' };

let folder: string;
let server: Server | RawServer | undefined;
let connection: Connection | undefined;
const sockets = new Set<Socket>();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-connection-'));
});
afterEach(async () => {
  connection?.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

async function linesOf(response: ApiResponse): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of response.lines()) lines.push(line);
  return lines;
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe.each(CONNECTIONS)('a connection over $name', ({ open }) => {
  async function listenOn(started: Server | RawServer): Promise<Connection> {
    const socketPath = join(folder, 's');
    server = started.listen(socketPath);
    started.on('connection', (socket: Socket) => void sockets.add(socket));
    await once(started, 'listening');
    connection = await open({ name: 'here', socketPath });
    return connection;
  }
  const connect = (listener: RequestListener) => listenOn(createServer(listener));
  /** A server that says exactly this to every request, then hangs up when it should. */
  const connectRaw = (said: string, { isOpen = false } = {}) =>
    listenOn(
      createRawServer((socket) => {
        socket.on('error', () => {});
        socket.on('data', () => (isOpen ? socket.write(said, 'latin1') : socket.end(said, 'latin1')));
      }),
    );

  it('sends method, headers and body, and takes any status as an answer', async () => {
    const { request } = await connect(async (asked, response) => {
      let body = '';
      for await (const chunk of asked) body += String(chunk);
      const { host, accept, connection: kept, 'content-length': length, 'transfer-encoding': coding, ...headers } = asked.headers;
      response.writeHead(409, { 'X-Up': 'Case' });
      response.end(JSON.stringify([asked.method, asked.url, host, accept, kept, length, coding, headers, body]));
    });
    const response = await request({ method: 'PATCH', path: '/a?b=c', headers: { 'content-type': 'x/y' }, body: 'größe' });
    expect([response.status, response.headers['x-up']]).toEqual([409, 'Case']);
    expect(JSON.parse(await response.text())).toEqual([
      'PATCH',
      '/a?b=c',
      'localhost',
      'application/json',
      'keep-alive',
      '7',
      null,
      { 'content-type': 'x/y' },
      'größe',
    ]);
  });

  it.each(['GET', 'POST', 'DELETE'] as const)('lets %s go without a body, and the caller choose what is accepted', async (method) => {
    const { request } = await connect(async (asked, response) => {
      for await (const _ of asked);
      response.end(`${asked.headers.accept} ${asked.headers['content-length']} ${asked.headers['transfer-encoding']}`);
    });
    const response = await request({ method, path: '/', headers: { accept: 'text/x' } });
    expect(await response.text()).toBe(`text/x ${method === 'POST' ? '0' : 'undefined'} undefined`);
  });

  it('keeps every warning of an answer', async () => {
    const { request } = await connect((_asked, response) => {
      response.writeHead(200, [
        ['Warning', '299 - "a"'],
        ['warning', '299 - "b"'],
        ['set-cookie', 'c'],
        ['Content-Type', 'x'],
        ['Content-Type', 'y'],
      ] as never);
      response.end();
    });
    const { headers } = await request(GET);
    expect(headers['warning']).toBe('299 - "a", 299 - "b"');
    expect(headers['set-cookie']).toEqual(['c']);
    expect(headers['content-type']).toBe('x');
  });

  it.each([204, 304])('takes %i without waiting for a body', async (status) => {
    const { request } = await connect((_asked, response) => {
      response.writeHead(status);
      response.end();
    });
    for (let count = 0; count < 2; count++) {
      const response = await request(GET);
      expect([response.status, await response.text()]).toEqual([status, '']);
    }
  });

  it('uses one socket for requests that follow each other', async () => {
    const { request } = await connect((asked, response) => {
      if (asked.url === '/fixed') response.setHeader('content-length', '1');
      response.end('x');
    });
    for (const path of ['/', '/fixed', '/']) await (await request({ method: 'GET', path })).text();
    expect(sockets.size).toBe(1);
  });

  it('uses another socket when the server does not keep the first', async () => {
    const { request } = await connect((_asked, response) => {
      response.setHeader('connection', 'close');
      response.end('x');
    });
    for (let count = 0; count < 3; count++) expect(await (await request(GET)).text()).toBe('x');
    expect(sockets.size).toBe(3);
  });

  it('asks many things at once, but does not run the server over', async () => {
    const waiting: (() => void)[] = [];
    const { request } = await connect((asked, response) => {
      waiting.push(() => response.end(asked.url));
    });
    const answers = Array.from({ length: 40 }, async (_, n) => (await request({ method: 'GET', path: `/${n}` })).text());
    await vi.waitFor(() => expect(waiting.length).toBe(16));
    const pump = setInterval(() => waiting.shift()?.(), 1);
    expect(await Promise.all(answers)).toEqual(answers.map((_, n) => `/${n}`));
    clearInterval(pump);
    expect(sockets.size).toBe(16);
  });

  it('goes on with those who wait when an answer breaks off or is not wanted', async () => {
    const { request } = await connect((asked, response) => {
      if (asked.url === '/cut') asked.socket.destroy();
      else if (asked.url === '/ok') response.end('ok');
    });
    const enough = new AbortController();
    const stuck = Array.from({ length: 15 }, () => failureOf(request({ method: 'GET', path: '/stuck', signal: enough.signal })));
    const cut = failureOf(request({ method: 'GET', path: '/cut' }));
    const gone = new AbortController();
    const neverSent = failureOf(request({ method: 'GET', path: '/stuck', signal: gone.signal }));
    const ok = request({ method: 'GET', path: '/ok' });
    gone.abort();
    expect(await (await ok).text()).toBe('ok');
    enough.abort();
    for (const failure of [...stuck, cut, neverSent]) expect(await failure).toBeInstanceOf(UnavailableError);
  });

  it('gives lines as they come, whole, wherever the chunks are cut', async () => {
    let more: (() => void) | undefined;
    const { request } = await connect((_asked, response) => {
      const bytes = Buffer.from('{"a":"é"}\n\n{"b":2}\nlast');
      response.write(bytes.subarray(0, 7));
      more = () => response.end(bytes.subarray(7));
    });
    const response = await request(GET);
    more?.();
    expect(await linesOf(response)).toEqual(['{"a":"é"}', '{"b":2}', 'last']);
  });

  it('reads a large body whole', async () => {
    const text = `${'größe '.repeat(300_000)}end`;
    const { request } = await connect((_asked, response) => void response.end(text));
    for (let count = 0; count < 2; count++) expect((await (await request(GET)).text()) === text).toBe(true);
    expect(sockets.size).toBe(1);
  });

  it('holds the server back while nobody reads', async () => {
    const line = `${'x'.repeat(1_000)}\n`;
    let sent = 0;
    let isFull = false;
    const { request } = await connect((_asked, response) => {
      const fill = () => {
        isFull = false;
        for (; sent < 20_000 && !isFull; sent++) isFull = !response.write(line);
        if (sent >= 20_000) response.end();
      };
      response.on('drain', fill);
      fill();
    });
    const lines = (await request(GET)).lines()[Symbol.asyncIterator]();
    await lines.next();
    await vi.waitFor(() => expect(isFull).toBe(true));
    // Nothing moves any more although nobody has read: whatever is between the two is full.
    let before = -1;
    await vi.waitFor(() => {
      const isSame = before === sent;
      before = sent;
      expect(isSame).toBe(true);
    });
    expect(sent).toBeLessThan(10_000);
    let count = 1;
    while (!(await lines.next()).done) count++;
    expect(count).toBe(20_000);
  });

  it('ends the lines quietly when the caller has enough', async () => {
    const { request } = await connect((_asked, response) => void response.write('one\ntwo\n'));
    const enough = new AbortController();
    const lines: string[] = [];
    const response = await request({ ...GET, signal: enough.signal });
    for await (const line of response.lines()) {
      lines.push(line);
      enough.abort();
    }
    expect(lines).toEqual(['one']);
  });

  it('ends the lines quietly when the caller has enough while nothing comes', async () => {
    const { request } = await connect((_asked, response) => void response.flushHeaders());
    const enough = new AbortController();
    const lines = linesOf(await request({ ...GET, signal: enough.signal }));
    enough.abort();
    expect(await lines).toEqual([]);
  });

  it('hangs up when the caller leaves in the middle, and is of use afterwards', async () => {
    const { request } = await connect((asked, response) => {
      if (asked.url === '/watch') response.write('one\ntwo\n');
      else response.end('x');
    });
    for await (const line of (await request({ method: 'GET', path: '/watch' })).lines()) {
      expect(line).toBe('one');
      break;
    }
    const [first] = sockets;
    await vi.waitFor(() => expect(first?.destroyed).toBe(true));
    expect(await (await request(GET)).text()).toBe('x');
  });

  it('asks nobody when the caller has enough before', async () => {
    const { request } = await connect((_asked, response) => void response.end('x'));
    const failure = await failureOf(request({ ...GET, signal: AbortSignal.abort() }));
    expect(failure).toBeInstanceOf(UnavailableError);
    expect((failure as UnavailableError).cause).toMatchObject({ name: 'AbortError' });
  });

  it('stops waiting for an answer when the caller has enough', async () => {
    const enough = new AbortController();
    const { request } = await connect(() => enough.abort());
    const failure = await failureOf(request({ ...GET, signal: enough.signal }));
    expect((failure as UnavailableError).cause).toMatchObject({ name: 'AbortError' });
  });

  it('does not gather listeners on the signal of the caller', async () => {
    const { request } = await connect((_asked, response) => void response.end('x'));
    const { signal } = new AbortController();
    const listeners: number[] = [];
    const ask = async () => {
      await (await request({ ...GET, signal })).text();
      listeners.push(getEventListeners(signal, 'abort').length);
    };
    await Promise.all(Array.from({ length: 40 }, ask));
    for (let count = 0; count < 20; count++) await ask();
    expect(listeners.at(-1)).toBeLessThanOrEqual(2);
  });

  it('says so when nobody answers', async () => {
    const socketPath = join(folder, 'nobody');
    const plain = await open({ name: 'here', socketPath });
    const failure = await failureOf(plain.request(GET));
    expect(failure).toBeInstanceOf(UnavailableError);
    expect(failure).toMatchObject({
      message: `Unable to connect to the server: here: connect ENOENT ${socketPath}`,
      cause: { code: 'ENOENT' },
    });
    const told = await open({ name: 'here', socketPath, whenUnavailable: ({ code }) => `nobody: ${code}` });
    expect(await failureOf(told.request(GET))).toMatchObject({ message: 'nobody: ENOENT' });
  });

  it('says so when the server hangs up without an answer', async () => {
    const { request } = await connect((asked) => void asked.socket.destroy());
    const failure = await failureOf(request(GET));
    expect(failure).toBeInstanceOf(UnavailableError);
    expect(failure).toMatchObject({
      message: 'Unable to connect to the server: here: socket hang up',
      cause: { code: 'ECONNRESET' },
    });
  });

  it('says of what changes something that it may have been done when the server hangs up, and of nothing else', async () => {
    const { request } = await connect((asked) => void asked.socket.destroy());
    const mayBeDone = { hint: 'it may have done what you asked for before that: look before you ask again' };
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      expect(await failureOf(request({ method, path: '/', body: '{}' }))).toMatchObject(mayBeDone);
    }
    expect(await failureOf(request(GET))).toMatchObject({ hint: undefined });
    const nobody = await open({ name: 'here', socketPath: join(folder, 'absent') });
    expect(await failureOf(nobody.request({ method: 'POST', path: '/' }))).toMatchObject({ hint: undefined });
  });

  it('says so when the server goes away in the middle', async () => {
    const { request } = await connect((asked, response) => {
      response.write('one\n');
      response.write('tw', () => asked.socket.destroy());
    });
    const failure = await failureOf((await request(GET)).text());
    expect(failure).toBeInstanceOf(UnavailableError);
    expect(failure).toMatchObject({ message: 'Unable to connect to the server: here: aborted', cause: { code: 'ECONNRESET' } });
  });

  it.each([
    { title: 'a body until the end', said: 'HTTP/1.1 200 OK\r\n\r\nbody', text: 'body' },
    { title: 'HTTP/1.0', said: 'HTTP/1.0 200 OK\r\ncontent-length: 4\r\n\r\nbody', text: 'body' },
    {
      title: 'trailers',
      said: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: Close\r\n\r\n4;a=b\r\nbody\r\n0\r\nx: y\r\n\r\n',
      text: 'body',
    },
    {
      title: 'an answer before the answer',
      said: 'HTTP/1.1 103 Wait\r\na: b\r\n\r\nHTTP/1.1 200\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx',
      text: 'x',
    },
  ])('understands $title', async ({ said, text }) => {
    const { request } = await connectRaw(said);
    expect(await (await request(GET)).text()).toBe(text);
    expect(await (await request(GET)).text()).toBe(text);
  });

  it.each([
    { title: 'something else', said: 'SSH-2.0-OpenSSH\r\n\r\n' },
    { title: 'two lengths', said: 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx' },
    { title: 'a length and chunks', said: 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n' },
    { title: 'a length that is no number', said: 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n' },
    { title: 'a header without a name', said: 'HTTP/1.1 200 OK\r\n: x\r\n\r\n' },
    { title: 'half a head', said: 'HTTP/1.1 200 OK\r\nx: y\r\n' },
    { title: 'a head without end', said: `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}` },
    { title: 'a chunk without a size', said: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nbody\r\n0\r\n\r\n' },
    { title: 'a chunk that is too long', said: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nbody\r\n0\r\n\r\n' },
    { title: 'less than promised', said: 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nbody' },
    { title: 'chunks without the last', said: 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n' },
  ])('refuses $title', async ({ said }) => {
    const { request } = await connectRaw(said);
    expect(await failureOf(request(GET).then((response) => response.text()))).toBeInstanceOf(UnavailableError);
  });

  it('does not take what nobody asked for as the next answer', async () => {
    const answer = (text: string) => `HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n${text}`;
    const { request } = await connectRaw(`${answer('a')}${answer('b')}`, { isOpen: true });
    expect(await (await request(GET)).text()).toBe('a');
    expect(await (await request(GET)).text()).toBe('a');
  });

  it.each([
    { title: 'path', request: { ...GET, path: '/ HTTP/1.1\r\nx: y\r\n\r\n' } },
    { title: 'header', request: { ...GET, headers: { x: 'y\r\nz: w' } } },
  ])('sends no $title that would be more than one', async ({ request }) => {
    const { request: send } = await connect((_asked, response) => void response.end('x'));
    await expect(send(request)).rejects.toThrow();
    expect(await (await send(GET)).text()).toBe('x');
  });

  it('ends what is under way when it is closed', async () => {
    const { request, close } = await connect((_asked, response) => void response.write('one\n'));
    const text = failureOf((await request(GET)).text());
    close();
    expect(await text).toBeInstanceOf(UnavailableError);
  });
});
