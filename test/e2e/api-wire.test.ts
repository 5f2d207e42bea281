/** The API against bytes that no honest client sends: shapes of request smuggling, garbage, floods, and bodies that never end. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answersIn, rawConnection } from '../support/api-raw.ts';
import { type Daemon, startDaemon, temporaryFolder } from '../support/daemon.ts';

const { folder, remove } = temporaryFolder();
let daemon: Daemon;
const host = () => `Host: 127.0.0.1:${daemon.server.port}`;
const auth = () => `Authorization: Bearer ${daemon.server.token}`;

beforeAll(async () => {
  daemon = await startDaemon(join(folder, 'home'));
});
afterAll(async () => {
  const { code, stderr } = await daemon.stop();
  remove();
  expect([code, stderr]).toEqual([0, '']);
});

/** Sends it all at once and collects what comes until the server hangs up, or has answered a last request that asks it to. */
async function exchange(text: string): Promise<string> {
  const connection = await rawConnection(daemon.server);
  connection.send(text);
  const timer = setTimeout(() => connection.socket.destroy(), 10_000);
  try {
    return await connection.closed;
  } finally {
    clearTimeout(timer);
  }
}

describe('a request that two servers could read differently', () => {
  const path = '/api/v1/namespaces/default/configmaps';
  // Filled in with the object that this one is about.
  const hidden = () => `DELETE ${path}/VICTIM HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: 0\r\n\r\n`;
  const chunked = 'Transfer-Encoding: chunked';
  const shapes: readonly (readonly [string, () => string])[] = [
    [
      'with a length and chunks',
      () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: 4\r\n${chunked}\r\n\r\n0\r\n\r\n${hidden()}`,
    ],
    [
      'with two lengths',
      () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: 0\r\nContent-Length: 9\r\n\r\n${hidden()}`,
    ],
    ['with a list of lengths', () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: 0, 9\r\n\r\n${hidden()}`],
    ['with a length that is no number', () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: 0x0\r\n\r\n${hidden()}`],
    ['with a negative length', () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: -1\r\n\r\n${hidden()}`],
    ['with a sign before its length', () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length: +0\r\n\r\n${hidden()}`],
    ['with a bad chunk size', () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\n${chunked}\r\n\r\nZZ\r\n\r\n0\r\n\r\n${hidden()}`],
    [
      'with an endless chunk size',
      () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\n${chunked}\r\n\r\nfffffffffffffffff\r\nx\r\n0\r\n\r\n${hidden()}`,
    ],
    [
      'with a chunk that is longer than it says',
      () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\n${chunked}\r\n\r\n1\r\nxxxx\r\n0\r\n\r\n${hidden()}`,
    ],
    [
      'with an unknown transfer encoding',
      () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden()}`,
    ],
    ['with chunked twice', () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\n${chunked}, identity\r\n\r\n0\r\n\r\n${hidden()}`],
    ['with a folded header', () => `GET ${path} HTTP/1.1\r\n${host()}\r\nX-A: 1\r\n folded\r\n${auth()}\r\n\r\n${hidden()}`],
    ['with a space before the colon', () => `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Length : 0\r\n\r\n${hidden()}`],
    ['with a bare carriage return in a header', () => `GET ${path} HTTP/1.1\r\n${host()}\r\nX-A: a\rb\r\n${auth()}\r\n\r\n${hidden()}`],
    ['with a NUL in a header', () => `GET ${path} HTTP/1.1\r\n${host()}\r\nX-A: a\0b\r\n${auth()}\r\n\r\n${hidden()}`],
    ['with a header without a name', () => `GET ${path} HTTP/1.1\r\n${host()}\r\n: x\r\n${auth()}\r\n\r\n${hidden()}`],
    ['with a line of garbage', () => `GET ${path} HTTP/1.1\r\n${host()}\r\ngarbage\r\n${auth()}\r\n\r\n${hidden()}`],
    ['with a space in its target', () => `GET ${path} x HTTP/1.1\r\n${host()}\r\n${auth()}\r\n\r\n${hidden()}`],
    ['of a method that does not exist', () => `SMUGGLE ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\n\r\n${hidden()}`],
    ['of version 0.9', () => `GET /\r\n\r\n${hidden()}`],
    ['that says it is of version 0.9', () => `GET / HTTP/0.9\r\n\r\n${hidden()}`],
    ['of a version to come', () => `GET ${path} HTTP/3.7\r\n${host()}\r\n${auth()}\r\n\r\n${hidden()}`],
    ['in the first bytes of HTTP/2', () => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden()}`],
    ['of nothing but zeros', () => '\0'.repeat(100) + hidden()],
    [
      'with two hosts',
      () => `GET ${path} HTTP/1.1\r\n${host()}\r\nHost: evil.example\r\n${auth()}\r\nConnection: close\r\n\r\n${hidden()}`,
    ],
  ];

  it.concurrent.each(shapes)('%s gets an error or nothing, and what follows it is never read', async (shape, text) => {
    const { api } = daemon;
    const victim = shape.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase();
    expect((await api.call('POST', path, { body: { metadata: { name: victim } } })).status).toBe(201);
    const received = await exchange(text().replace('VICTIM', victim));
    for (const code of answersIn(received)) expect(code).toBeGreaterThanOrEqual(400);
    // What the API itself has answered has an id; the rest is the listener's word on bytes that are no request.
    expect(received.match(/Audit-Id/g)?.length ?? 0).toBeLessThanOrEqual(1);
    expect((await api.call('GET', `${path}/${victim}`)).status).toBe(200);
  });

  it('cannot hide in the path or query of an honest one', async () => {
    const names = ['%0d%0a', '..%2f..', '%00', 'a%2fb', '%e2%82', '%'];
    for (const name of names) {
      const { status } = await daemon.api.call('GET', `${path}/${name}?labelSelector=a%0d%0aX-Injected:%20x`);
      expect([name, status]).toEqual([name, expect.toSatisfy((code: number) => code === 400 || code === 404)]);
    }
    const { headers } = await daemon.api.call('GET', `/openapi/v3/apis/agentiso.dev/v1alpha1?hash=%0d%0aX-Injected:%20x`);
    expect(headers['x-injected']).toBeUndefined();
  });

  it('without a host is refused', async () => {
    const codes = answersIn(await exchange(`GET ${path} HTTP/1.1\r\n${auth()}\r\nConnection: close\r\n\r\n`));
    expect(codes).toEqual([expect.toSatisfy((code: number) => code === 400 || code === 403)]);
  });

  it('in absolute form is read by its path at most, and never sent on', async () => {
    const text = await exchange(`GET https://evil.example/healthz HTTP/1.1\r\n${host()}\r\nConnection: close\r\n\r\n`);
    expect(answersIn(text)).toEqual([expect.toSatisfy((code: number) => code >= 400 || text.endsWith('ok'))]);
    const connect = await exchange(`CONNECT evil.example:443 HTTP/1.1\r\n${host()}\r\n\r\n`);
    for (const code of answersIn(connect)) expect(code).toBeGreaterThanOrEqual(400);
  });
});

describe('an honest connection', () => {
  it('carries requests one after the other, with bodies of both kinds', async () => {
    const connection = await rawConnection(daemon.server);
    const body = JSON.stringify({ metadata: { generateName: 'piped-' } });
    const create = `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Type: application/json\r\n`;
    const sized = `${create}Content-Length: ${body.length}\r\n\r\n${body}`;
    const inChunks = `${create}Transfer-Encoding: chunked\r\n\r\n5\r\n${body.slice(0, 5)}\r\n${(body.length - 5).toString(16)}\r\n${body.slice(5)}\r\n0\r\n\r\n`;
    connection.send(`${sized}${inChunks}GET /healthz HTTP/1.1\r\n${host()}\r\nConnection: close\r\n\r\n`);
    expect(answersIn(await connection.closed)).toEqual([201, 201, 200]);
  });

  it('is told to go on before a body that waits for it', async () => {
    const connection = await rawConnection(daemon.server);
    connection.send(
      `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\n${host()}\r\n${auth()}\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 2\r\n\r\n`,
    );
    expect(await connection.until('100 Continue')).toContain('100 Continue');
    connection.send('{}');
    expect(answersIn(await connection.closed).at(-1)).toBe(422);
  });
});

describe('what is too much', () => {
  it('of headers is answered with 431', async () => {
    const text = await exchange(`GET /healthz HTTP/1.1\r\n${host()}\r\nX-Big: ${'x'.repeat(100_000)}\r\n\r\n`);
    expect(answersIn(text)).toEqual([431]);
    const many = Array.from({ length: 5_000 }, (_, index) => `X-${index}: y`).join('\r\n');
    expect(answersIn(await exchange(`GET /healthz HTTP/1.1\r\n${host()}\r\n${many}\r\n\r\n`))).toEqual([431]);
  });

  it('of a path is refused', async () => {
    const text = await exchange(`GET /${'a'.repeat(100_000)} HTTP/1.1\r\n${host()}\r\n\r\n`);
    for (const code of answersIn(text)) expect(code).toBeGreaterThanOrEqual(400);
  });

  it('of a body is answered with 413, whether or not it says its size, without being read to its end', async () => {
    const { api } = daemon;
    const path = '/api/v1/namespaces/default/configmaps';
    const body = JSON.stringify({ metadata: { name: 'big' }, data: { a: 'x'.repeat(3 * 1024 * 1024) } });
    const { status, json } = await api.call('POST', path, { body });
    expect([status, json()]).toMatchObject([413, { kind: 'Status', reason: 'RequestEntityTooLarge' }]);
    const connection = await rawConnection(daemon.server);
    connection.send(
      `POST ${path} HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
    );
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    for (let sent = 0; sent < 64 && !connection.received(); sent++) connection.send(chunk);
    await connection.until('HTTP/1.1 413');
    connection.socket.destroy();
    expect(answersIn(await connection.closed)).toEqual([413]);
    for (const verb of ['PUT', 'PATCH', 'DELETE']) {
      const headers = verb === 'PATCH' ? { 'Content-Type': 'application/merge-patch+json' } : {};
      expect([verb, (await api.call(verb, `${path}/big`, { body, headers })).status]).toEqual([verb, 413]);
    }
    expect((await api.call('GET', `${path}/big`)).status).toBe(404);
  });

  it('of depth is refused, in JSON, in YAML and in patches', async () => {
    const { api } = daemon;
    const path = '/api/v1/namespaces/default/configmaps';
    const depth = 100_000;
    const deep = `{"metadata":{"name":"deep"},"data":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`;
    expect((await api.call('POST', path, { body: deep })).status).toBe(400);
    const yaml = `metadata: {name: deep}\ndata: ${'['.repeat(depth)}${']'.repeat(depth)}\n`;
    expect((await api.call('POST', path, { body: yaml, headers: { 'Content-Type': 'application/yaml' } })).status).toBe(400);
    const indented = Array.from({ length: 1_200 }, (_, level) => `${' '.repeat(level)}a:`).join('\n');
    expect((await api.call('POST', path, { body: indented, headers: { 'Content-Type': 'application/yaml' } })).status).toBe(400);
    await api.call('POST', path, { body: { metadata: { name: 'shallow' } } });
    for (const type of ['merge-patch+json', 'strategic-merge-patch+json', 'apply-patch+yaml', 'json-patch+json']) {
      const body = type.startsWith('json') ? `[{"op":"add","path":"/data","value":${'['.repeat(depth)}${']'.repeat(depth)}}]` : deep;
      const { status } = await api.call('PATCH', `${path}/shallow?fieldManager=x`, {
        body,
        headers: { 'Content-Type': `application/${type}` },
      });
      expect([type, status]).toEqual([type, expect.toSatisfy((code: number) => code === 400 || code === 422)]);
    }
  });

  it('of keys costs no more than their number: while one is stored, others are answered', async () => {
    const { api } = daemon;
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key-${index}`, 'value']));
    const path = '/api/v1/namespaces/default/configmaps';
    // Work that grows with the square of the keys takes a minute here, and the whole test then runs out of time.
    expect((await api.call('POST', path, { body: { metadata: { name: 'wide' }, data } })).status).toBe(201);
    const config = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'wide' }, data: { 'key-1': 'value' } };
    const headers = { 'Content-Type': 'application/apply-patch+yaml' };
    expect((await api.call('PATCH', `${path}/wide?fieldManager=other`, { body: config, headers })).status).toBe(200);
    expect((await api.call('DELETE', `${path}/wide`)).status).toBe(200);
  }, 30_000);

  it('of aliases is refused before it grows', async () => {
    const levels = Array.from({ length: 30 }, (_, level) => `  l${level + 1}: &l${level + 1} [${`*l${level}, `.repeat(9)}*l${level}]`);
    const bomb = `metadata: {name: bomb}\nx:\n  l0: &l0 lol\n${levels.join('\n')}\n`;
    const headers = { 'Content-Type': 'application/yaml' };
    expect((await daemon.api.call('POST', '/api/v1/namespaces/default/configmaps', { body: bomb, headers })).status).toBe(400);
    const apply = { 'Content-Type': 'application/apply-patch+yaml' };
    const { status } = await daemon.api.call('PATCH', '/api/v1/namespaces/default/configmaps/bomb?fieldManager=x', {
      body: bomb,
      headers: apply,
    });
    expect(status).toBe(400);
  });

  it('of time to hand a body over ends only that request', async () => {
    const connection = await rawConnection(daemon.server);
    connection.send(
      `POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\n${host()}\r\n${auth()}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"metadata":`,
    );
    connection.socket.end();
    const codes = answersIn(await connection.closed);
    for (const code of codes) expect(code).toBe(400);
    expect((await daemon.api.call('GET', '/healthz')).status).toBe(200);
  });

  it('of garbage before TLS is dropped', async () => {
    const { connect } = await import('node:net');
    const { host: name, port } = daemon.server;
    const text = await new Promise<string>((resolve) => {
      let received = '';
      const socket = connect({ host: name, port }, () => socket.write(`GET /healthz HTTP/1.1\r\n${host()}\r\n\r\n`));
      socket.on('data', (chunk) => {
        received += chunk.toString('latin1');
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(received));
    });
    expect(text).not.toContain('200 OK');
    expect((await daemon.api.call('GET', '/healthz')).status).toBe(200);
  });
});
