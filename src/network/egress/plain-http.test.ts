/** HTTP without TLS through the proxy, and bytes that two servers could read differently. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ask, client, PUBLIC, proxyHome, reasonOf, server, statusOf } from './egress.fixture.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function webHome(onRequest: RequestListener) {
  const web = createServer(onRequest);
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  stops.push(
    () =>
      new Promise((resolve) => {
        web.close(resolve);
        web.closeAllConnections();
      }),
  );
  const home = proxyHome();
  home.internet.names.set('ok.test', [PUBLIC]);
  home.internet.servers.set(`${PUBLIC}:80`, (web.address() as AddressInfo).port);
  await home.egress.listen('a1', home.socketPath, { allowDomains: ['ok.test'], allowInternet: false });
  return home;
}

/** Answers with what it was asked, as JSON. */
const mirror: RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { method, url, headers } = request;
    response.setHeader('Set-Cookie', ['a=1', 'b=2']).setHeader('Connection', 'keep-alive, X-Secret').setHeader('X-Secret', 'hop');
    response.end(JSON.stringify({ method, url, headers, body: Buffer.concat(chunks).toString() }));
  });
};
const bodyOf = (answer: string) => JSON.parse(/\{.*\}/s.exec(answer)?.[0] ?? '{}');

describe('a plain request', () => {
  it('reaches the server as that server expects it, without what was meant for the proxy', async () => {
    const { socketPath } = await webHome(mirror);
    const answer = await ask(
      socketPath,
      'GET http://ok.test/a/../b?c=%20 HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: Basic eA==\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nX-Kept: 2\r\n\r\n',
    );
    expect(statusOf(answer)).toBe(200);
    expect(bodyOf(answer)).toEqual({
      method: 'GET',
      url: '/a/../b?c=%20',
      headers: { host: 'ok.test', 'x-kept': '2', connection: 'close' },
      body: '',
    });
    expect(answer.match(/^set-cookie: .*$/gim)).toEqual(['set-cookie: a=1\r', 'set-cookie: b=2\r'].map((line) => line.trimEnd()));
    expect(answer).not.toMatch(/x-secret/i);
    expect(answer).toMatch(/^connection: close\r$/im);
  });

  it.each([
    ['a length', 'Content-Length: 5\r\n\r\nhello'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'],
  ])('carries a body with %s, whatever the method', async (_, rest) => {
    const { socketPath } = await webHome(mirror);
    for (const method of ['POST', 'GET', 'DELETE']) {
      expect(bodyOf(await ask(socketPath, `${method} http://ok.test/x HTTP/1.1\r\nHost: ok.test\r\n${rest}`))).toMatchObject({
        method,
        body: 'hello',
      });
    }
  });

  it('is refused like a tunnel', async () => {
    const { socketPath, internet, refused } = await webHome(mirror);
    const reasons = [];
    for (const url of ['http://no.test/', 'http://ok.test:8080/', 'http://127.0.0.1/', 'https://ok.test/', '/']) {
      reasons.push(reasonOf(await ask(socketPath, `GET ${url} HTTP/1.1\r\nHost: ok.test\r\n\r\n`)));
    }
    expect(reasons).toEqual(['NameNotAllowed', 'PortNotAllowed', 'AddressNotAllowed', 'BadRequest', 'BadRequest']);
    internet.names.set('ok.test', ['10.0.0.1']);
    const answer = await ask(socketPath, 'POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 100000\r\n\r\nx');
    expect([statusOf(answer), reasonOf(answer)]).toEqual([403, 'AddressNotAllowed']);
    expect(refused).toEqual(['a1 no.test', 'a1 ok.test', 'a1 127.0.0.1']);
  });

  it('has a connection of its own on both sides; a second request on the first is dropped', async () => {
    const seen: (string | undefined)[] = [];
    const { socketPath, internet } = await webHome((request, response) => {
      seen.push(request.url);
      mirror(request, response);
    });
    const first = 'GET http://ok.test/1 HTTP/1.1\r\nHost: ok.test\r\n\r\n';
    const answer = await ask(socketPath, `${first}GET http://ok.test/2 HTTP/1.1\r\nHost: ok.test\r\n\r\n`);
    expect(answer.match(/HTTP\/1\.1 200/g)?.length ?? 0).toBeLessThanOrEqual(1);
    expect(seen).not.toContain('/2');
    const later = await client(socketPath);
    later.socket.write(first);
    await later.until(/\}$/);
    later.socket.write('CONNECT ok.test:80 HTTP/1.1\r\nHost: ok.test\r\n\r\n');
    expect(await later.closed).not.toContain('Established');
    expect(internet.connected.length).toBeLessThanOrEqual(2);
  });

  it('does not look complete when the server breaks off', async () => {
    const { socketPath } = await webHome((_, response) => {
      response.writeHead(200, { 'Content-Length': 100 }).write('half');
      setImmediate(() => response.destroy());
    });
    const answer = await ask(socketPath, 'GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n');
    expect(answer.length).toBeLessThan(400);
    expect(answer).not.toMatch(/^content-length: 4\r$/im);
  });

  it.each([
    ['nothing', ''],
    ['no HTTP', 'SSH-2.0-x\r\n'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
  ])('becomes 502 when the server answers %s', async (_, bytes) => {
    const home = await webHome(mirror);
    home.internet.servers.set(`${PUBLIC}:80`, await server((socket) => socket.end(bytes)));
    const answer = await ask(home.socketPath, 'GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n');
    expect([statusOf(answer), reasonOf(answer)]).toEqual([502, 'BadAnswer']);
  });

  it('ends at the server when the client goes', async () => {
    let isGone = false;
    const { socketPath } = await webHome((_, response) => {
      response.on('close', () => {
        isGone = true;
      });
      response.write('begun');
    });
    const { socket, until } = await client(socketPath);
    socket.write('GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n\r\n');
    await until(/begun/);
    socket.destroy();
    await vi.waitFor(() => expect(isGone).toBe(true));
  });
});

describe('a request that two servers could read differently', () => {
  const hidden = 'GET http://ok.test/hidden HTTP/1.1\r\nHost: ok.test\r\n\r\n';
  const post = 'POST http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\n';
  it.each([
    ['a length and chunks', `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['two lengths', `${post}Content-Length: 0\r\nContent-Length: 9\r\n\r\n${hidden}`],
    ['a list of lengths', `${post}Content-Length: 0, 9\r\n\r\n${hidden}`],
    ['a length with a sign', `${post}Content-Length: +0\r\n\r\n${hidden}`],
    ['an unknown encoding', `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`],
    ['chunked and more', `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${hidden}`],
    ['a bad chunk size', `${post}Transfer-Encoding: chunked\r\n\r\nZZ\r\n\r\n0\r\n\r\n${hidden}`],
    ['a folded header', `GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX-A: 1\r\n folded\r\n\r\n${hidden}`],
    ['a space before the colon', `${post}Content-Length : 0\r\n\r\n${hidden}`],
    ['two hosts', `GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nHost: no.test\r\n\r\n${hidden}`],
    ['a bare line feed in a header', `GET http://ok.test/ HTTP/1.1\r\nHost: ok.test\r\nX-A: a\rb\r\n\r\n${hidden}`],
    ['a space in its target', `GET http://ok.test/ x HTTP/1.1\r\nHost: ok.test\r\n\r\n${hidden}`],
    ['a body behind CONNECT', `CONNECT ok.test:80 HTTP/1.1\r\nHost: ok.test\r\nContent-Length: 5\r\n\r\n${hidden}`],
    ['chunks behind CONNECT', `CONNECT ok.test:80 HTTP/1.1\r\nHost: ok.test\r\nTransfer-Encoding: chunked\r\n\r\n${hidden}`],
    ['the beginning of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}`],
    ['nothing but zeros', '\0'.repeat(100) + hidden],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc'],
  ])('with %s is refused, and nothing hidden in it is asked', async (_, bytes) => {
    const seen: (string | undefined)[] = [];
    const { socketPath } = await webHome((request, response) => {
      seen.push(request.url);
      mirror(request, response);
    });
    const answer = await ask(socketPath, bytes);
    expect(answer).not.toMatch(/^HTTP\/1\.1 2/);
    expect(seen).not.toContain('/hidden');
  });
});
