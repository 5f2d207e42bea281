/** The whole way but for the sandbox: an agent's proxy on its socket, the route, and a provider on loopback. */
import { EventEmitter, once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type RequestListener, request as requestHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Agent } from '#api/types.ts';
import { Metrics } from '#lib/metrics.ts';
import { Redactor } from '#lib/redact.ts';
import { createEgress } from '#network/egress/create-egress.ts';
import { openCredentials } from './credential-file.ts';
import { providerRoute } from './route.ts';

const KEY = 'sk-invented-0123456789abcdef';

async function provider(onRequest: RequestListener): Promise<string> {
  const server = createServer(onRequest);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers with what it was asked, as JSON. */
const mirror: RequestListener = (request, response) => {
  void text(request).then((body) =>
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body })),
  );
};

interface Asked {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

interface Lab {
  readonly log: string[];
  readonly metrics: Metrics;
  open(path: string, asked?: Asked): Promise<IncomingMessage>;
  ask(path: string, asked?: Asked): Promise<{ status: number; headers: IncomingMessage['headers']; body: string }>;
}

async function lab(config: string, spec: object = { backend: 'shell', provider: 'anthropic' }): Promise<Lab> {
  const home = mkdtempSync(join(tmpdir(), 'agentiso-route-'));
  mkdirSync(join(home, 'run'));
  writeFileSync(join(home, 'credentials.yaml'), config, { mode: 0o600 });
  const redactor = new Redactor();
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(redactor.redact(line)) });
  const metrics = new Metrics();
  const credentials = openCredentials({ home, environment: () => undefined, redactor, log });
  const agent = { metadata: { name: 'team-dev', uid: 'a1' }, spec } as Agent;
  const route = providerRoute({ credentials, agentByUid: (uid) => (uid === 'a1' ? agent : undefined), log, metrics });
  const egress = createEgress({ log, onRefused: () => {}, ownPaths: route });
  const socketPath = join(home, 'run', 'egress.sock');
  await egress.listen('a1', socketPath, { allowDomains: [], allowInternet: false });
  onTestFinished(async () => {
    await egress.closeAll();
    rmSync(home, { recursive: true });
  });
  const open = async (path: string, { method = 'GET', headers = {}, body }: Asked = {}) => {
    const outgoing = requestHttp({ socketPath, path, method, headers });
    outgoing.end(body);
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    return incoming;
  };
  return {
    log: lines,
    metrics,
    open,
    async ask(path, asked) {
      const incoming = await open(path, asked);
      return { status: incoming.statusCode ?? 0, headers: incoming.headers, body: await text(incoming) };
    },
  };
}

const configOf = (baseUrl: string, name = 'anthropic') => `providers: { ${name}: { apiKey: ${KEY}, baseUrl: "${baseUrl}" } }\n`;

describe('a request to a provider', () => {
  it('arrives with the real key in place of whatever the agent sent, and with nothing else of the way', async () => {
    const { ask } = await lab(configOf(await provider(mirror)));
    const { status, body } = await ask('/agentiso/providers/anthropic/v1/messages?beta=true&key=placeholder', {
      method: 'POST',
      headers: {
        'x-api-key': 'placeholder',
        authorization: 'Bearer placeholder',
        'x-goog-api-key': 'placeholder',
        cookie: 'a=1',
        'anthropic-version': '2023-06-01',
        'content-type': 'application/json',
        'accept-encoding': 'gzip',
        connection: 'keep-alive, x-hop',
        'x-hop': '1',
      },
      body: '{"model":"m"}',
    });
    expect(status).toBe(200);
    const seen = JSON.parse(body);
    expect(seen).toMatchObject({ method: 'POST', url: '/v1/messages?beta=true', body: '{"model":"m"}' });
    // The key that the provider got is not in what the agent reads.
    expect(seen.headers).toEqual({
      'x-api-key': '*'.repeat(KEY.length),
      'anthropic-version': '2023-06-01',
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'content-length': '13',
      connection: 'close',
      host: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    });
  });

  it.each([
    ['openai', 'authorization', `Bearer ${KEY}`],
    ['gemini', 'x-goog-api-key', KEY],
  ])('to %s has its key in %s', async (name, header, value) => {
    const keys: unknown[] = [];
    const base = await provider((request, response) => {
      keys.push(request.headers[header]);
      response.end('{}');
    });
    const { ask } = await lab(configOf(base, name), { backend: 'shell', provider: name });
    expect((await ask(`/agentiso/providers/${name}/x`, { headers: { [header]: 'placeholder' } })).status).toBe(200);
    expect(keys).toEqual([value]);
  });

  it('streams both ways, piece by piece', async () => {
    const pieces: string[] = [];
    const moments = new EventEmitter();
    const mayGoOn = once(moments, 'go on');
    const base = await provider((request, response) => {
      request.on('data', (chunk) => pieces.push(String(chunk)));
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: 1\n\n');
      void mayGoOn.then(() => response.end('data: 2\n\n'));
    });
    const { open } = await lab(configOf(base));
    const incoming = await open('/agentiso/providers/anthropic/v1/messages', { method: 'POST', body: 'question' });
    const [first] = (await once(incoming, 'data')) as [Buffer];
    // The provider has not said more yet, and will not before this.
    expect([String(first), incoming.headers['content-type'], pieces.join('')]).toEqual(['data: 1\n\n', 'text/event-stream', 'question']);
    moments.emit('go on');
    expect(await text(incoming)).toBe('data: 2\n\n');
  });

  it('holds a provider back that says more than the agent reads', async () => {
    const WHOLE = 32 * 1024 * 1024;
    let sent = 0;
    const base = await provider((_, response) => {
      const chunk = Buffer.alloc(64 * 1024);
      const more = () => {
        while (sent < WHOLE) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    const { open } = await lab(configOf(base));
    const incoming = await open('/agentiso/providers/anthropic/x');
    await once(incoming, 'readable');
    // Ten turns of everything there is to do: without back-pressure all of it would be here.
    for (let before = -1; before !== sent; ) {
      before = sent;
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(WHOLE / 2);
    expect((await buffer(incoming)).length).toBe(WHOLE);
  });

  it('ends at the provider when the agent goes away', async () => {
    const moments = new EventEmitter();
    const cut = once(moments, 'cut');
    const base = await provider((_, response) => {
      response.once('close', () => moments.emit('cut'));
      response.write('data: 1\n\n');
    });
    const { open, log } = await lab(configOf(base));
    (await open('/agentiso/providers/anthropic/x')).destroy();
    await cut;
    expect(JSON.parse(log.at(-1) ?? '{}')).toMatchObject({ isCut: true, status: 200 });
  });
});

describe('what an agent may not', () => {
  it.each([
    [
      'another provider',
      '/agentiso/providers/openai/v1/responses',
      403,
      'ProviderNotAllowed',
      /may not use the provider openai: it may use anthropic/,
    ],
    ['a path that climbs', '/agentiso/providers/anthropic/../openai', 400, 'BadPath', /leads elsewhere/],
    ['anything else of ours', '/agentiso/secrets', 404, 'NotFound', /nothing here/],
  ])('is to ask for %s', async (_, path, status, reason, message) => {
    const { ask, log } = await lab(`providers: { anthropic: { apiKey: ${KEY} }, openai: { apiKey: ${KEY} } }`);
    const { headers, ...answer } = await ask(path, { method: 'POST', body: 'x'.repeat(100_000) });
    expect(answer).toMatchObject({ status, body: expect.stringMatching(message) });
    expect(headers['x-agentiso-reason']).toBe(reason);
    expect(JSON.parse(answer.body).error).toMatchObject({ code: reason });
    expect(log.join('')).not.toContain(KEY);
  });

  it('is to use a provider at all when its spec names none', async () => {
    const { ask } = await lab(configOf('http://127.0.0.1:9'), { backend: 'shell' });
    expect((await ask('/agentiso/providers/anthropic/v1/messages')).body).toContain('it may use none');
  });

  it('is told where a key that is missing belongs', async () => {
    const { ask } = await lab('providers: {}\n');
    const { status, body } = await ask('/agentiso/providers/anthropic/v1/messages');
    expect([status, JSON.parse(body).error.type]).toEqual([401, 'authentication_error']);
    expect(body).toContain('HOME/credentials.yaml');
  });

  it('is to get out by an absolute URL, with or without our path', async () => {
    const { ask } = await lab(configOf('http://127.0.0.1:9'));
    expect((await ask('http://127.0.0.1:9/agentiso/providers/anthropic/x')).status).toBe(403);
    expect((await ask('/')).status).toBe(400);
  });
});

describe('an answer', () => {
  it('brings no key, no cookie and nothing of the other connection', async () => {
    const base = await provider((_, response) => {
      response.writeHead(429, {
        'Retry-After': '7',
        'Set-Cookie': 'a=1',
        'X-Echo': `you said ${KEY}`,
        'X-Request-Id': 'r1',
        'Keep-Alive': 'x',
      });
      response.end(`{"error":{"message":"bad key ${KEY}"}}`);
    });
    const { ask, log } = await lab(configOf(base));
    const { status, headers, body } = await ask('/agentiso/providers/anthropic/x');
    expect([status, headers['retry-after'], headers['x-request-id']]).toEqual([429, '7', 'r1']);
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['set-cookie']));
    expect(headers['x-echo']).toBeUndefined();
    expect(body).toBe(`{"error":{"message":"bad key ${'*'.repeat(KEY.length)}"}}`);
    expect(log.join('')).not.toContain(KEY);
  });

  it('that is packed though nobody asked is unpacked, and looked at', async () => {
    const base = await provider((_, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(`echo ${KEY}`)));
    const { ask } = await lab(configOf(base));
    const { headers, body } = await ask('/agentiso/providers/anthropic/x');
    expect([headers['content-encoding'], body]).toEqual([undefined, `echo ${'*'.repeat(KEY.length)}`]);
  });

  it('that is a redirect is followed by nobody', async () => {
    const asked: string[] = [];
    const elsewhere = await provider((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    const { ask } = await lab(configOf(await provider((_, response) => response.writeHead(307, { Location: `${elsewhere}/x` }).end())));
    const { status, headers, body } = await ask('/agentiso/providers/anthropic/x');
    expect([status, headers.location, asked]).toEqual([502, undefined, []]);
    expect(body).toContain('redirect');
  });

  it('that does not come is an error that says so', async () => {
    const { ask, log } = await lab(configOf(await provider((request) => request.socket.destroy())));
    const { status, body } = await ask('/agentiso/providers/anthropic/x', { method: 'POST', body: 'x' });
    expect([status, JSON.parse(body).error.code]).toEqual([502, 'ProviderUnreachable']);
    expect(log.join('')).toContain('provider gave no answer');
  });

  it('that breaks off does not look whole', async () => {
    const base = await provider((_, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half', () => response.destroy());
    });
    const { open } = await lab(configOf(base));
    await expect(text(await open('/agentiso/providers/anthropic/x'))).rejects.toThrow();
  });
});

it('counts and logs who asked whom, what came of it, and never what was said', async () => {
  const { ask, log, metrics } = await lab(configOf(await provider((_, response) => response.end('an answer in words'))));
  await ask('/agentiso/providers/anthropic/v1/messages', { method: 'POST', body: 'a question in words' });
  await ask('/agentiso/providers/elsewhere/x');
  const [first, second] = log.map((line) => JSON.parse(line));
  expect(first).toMatchObject({ agentId: 'a1', agent: 'team-dev', provider: 'anthropic', status: 200, msg: 'provider request' });
  expect(second).toMatchObject({ provider: 'elsewhere', status: 403 });
  expect(log.join('')).not.toMatch(/in words/);
  expect(metrics.render()).toContain('agentiso_provider_requests_total{provider="anthropic",status="200"} 1');
  expect(metrics.render()).toContain('agentiso_provider_requests_total{provider="other",status="403"} 1');
});
