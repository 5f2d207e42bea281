import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeWorkspace } from '../relay/fake-host.fixture.ts';

/** Of this run alone, because the port is fixed. */
const part = (shift: number) => (process.pid >> shift) & 0xff;
const ADDRESS = `127.98.${part(8)}.${part(0) || 1}`;
const PEER = `127.97.${part(8)}.${part(0) || 1}`;
const STRANGER = `127.96.${part(8)}.${part(0) || 1}`;

const soon = { timeout: 10_000, interval: 10 };
const SETTINGS = { httpAddress: ADDRESS, teamToken: 'team-token', peers: { [PEER]: 'ann' }, card: { name: 'bob', role: 'tester' } };

let workspace: FakeWorkspace;

beforeEach(async () => {
  workspace = await FakeWorkspace.open({ isConfigured: false });
});

afterEach(() => workspace.close());

interface Ask {
  readonly token?: string | undefined;
  readonly from?: string;
  readonly body?: string | Buffer | object;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
  readonly json: Record<string, unknown>;
}

async function ask(method: string, path: string, { token = 'agent-token', from = ADDRESS, body, headers = {} }: Ask = {}): Promise<Answer> {
  const agent = new Agent({ keepAlive: false });
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` };
  const sent = request({ host: ADDRESS, port: 8080, localAddress: from, method, path, agent, headers: { ...authorization, ...headers } });
  // A server that has refused a body hangs up while it is being sent.
  sent.on('error', () => {});
  sent.end(body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
  const [response] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const isJson = text !== '' && response.headers['content-type'] === 'application/json';
  return { status: response.statusCode, text, headers: response.headers, json: isJson ? JSON.parse(text) : {} };
}

const asPeer = { token: 'team-token', from: PEER };
const inRoot = (path: string) => join(workspace.root, path);

describe('the door', () => {
  it('is closed until the host configures it, then opens where the host says and moves with it', async () => {
    await expect(ask('GET', '/health')).rejects.toThrow('ECONNREFUSED');
    expect(await workspace.configure(SETTINGS)).toEqual({ httpUrl: `http://${ADDRESS}:8080` });
    expect((await ask('GET', '/health', { token: '' })).status).toBe(200);
    expect(await workspace.configure({ ...SETTINGS, httpAddress: PEER })).toEqual({ httpUrl: `http://${PEER}:8080` });
    await expect(ask('GET', '/health')).rejects.toThrow('ECONNREFUSED');
    expect(await workspace.configure(SETTINGS)).toEqual({ httpUrl: `http://${ADDRESS}:8080` });
    expect((await ask('GET', '/health')).status).toBe(200);
  });

  it.each(['0.0.0.0', '::', 'localhost', ''])('never opens on %j', async (httpAddress) => {
    expect(await workspace.configure({ ...SETTINGS, httpAddress })).toEqual({ httpProblem: expect.stringContaining('one IPv4 address') });
  });

  it('says when the port is busy, and opens when it is asked again', async () => {
    const other = createServer().listen(8080, ADDRESS);
    await once(other, 'listening');
    expect(await workspace.configure(SETTINGS)).toEqual({ httpProblem: expect.stringContaining('EADDRINUSE') });
    other.close();
    await once(other, 'close');
    expect(await workspace.configure(SETTINGS)).toEqual({ httpUrl: expect.any(String) });
  });

  it('tells the 65th connection that there are too many, and takes one when another has gone', async () => {
    await workspace.configure(SETTINGS);
    const sockets: Socket[] = [];
    for (let index = 0; index < 64; index += 1) {
      const socket = connect(8080, ADDRESS);
      await once(socket, 'connect');
      sockets.push(socket);
    }
    await vi.waitFor(async () => expect(await ask('GET', '/health')).toMatchObject({ status: 503, json: { code: 'Unavailable' } }), soon);
    sockets[0]?.destroy();
    await vi.waitFor(async () => expect((await ask('GET', '/health')).status).toBe(200), soon);
    for (const socket of sockets) socket.destroy();
  });
});

describe('who may come in', () => {
  beforeEach(() => workspace.configure(SETTINGS));

  it.each<[string, string, Ask, number]>([
    ['GET', '/health', { token: '' }, 200],
    ['GET', '/card', { token: '' }, 401],
    ['GET', '/card', { token: 'wrong' }, 401],
    ['GET', '/card', {}, 200],
    ['GET', '/card', asPeer, 200],
    ['GET', '/card', { token: 'team-token', from: STRANGER }, 403],
    ['GET', '/messages', {}, 200],
    ['GET', '/messages', asPeer, 403],
    ['GET', '/nowhere', {}, 404],
    ['GET', '/files/', {}, 404],
    ['DELETE', '/card', {}, 405],
    ['HEAD', '/health', {}, 405],
    ['GET', '/message', {}, 405],
  ])('%s %s with %j gets %i', async (method, path, options, status) => {
    const answer = await ask(method, path, options);
    expect(answer.status).toBe(status);
    if (status >= 400 && method !== 'HEAD') {
      expect(answer.json).toEqual({ code: expect.any(String), message: expect.any(String), retryable: false, hint: expect.any(String) });
    }
    if (status === 405) expect(answer.headers['allow']).toBeDefined();
  });

  it('is nobody but the agent where no peers are allowed, and tokens change at once', async () => {
    await workspace.configure({ ...SETTINGS, teamToken: null });
    expect((await ask('GET', '/card', asPeer)).status).toBe(403);
    await workspace.configure({ ...SETTINGS, agentToken: 'new', teamToken: 'newer' });
    expect((await ask('GET', '/card')).status).toBe(401);
    expect((await ask('GET', '/card', asPeer)).status).toBe(401);
    expect((await ask('GET', '/card', { ...asPeer, token: 'newer' })).json).toEqual(SETTINGS.card);
  });
});

describe('messages and tasks', () => {
  beforeEach(() => workspace.configure(SETTINGS));

  it('are read from after a seq, without assignments, and stay unread', async () => {
    const { host } = workspace;
    const sent = [host.send(), host.send()];
    host.assign({ command: 'true' });
    await vi.waitFor(() => expect(host.storedSeq).toBe(3), soon);
    expect((await ask('GET', '/messages')).json).toEqual({ messages: sent, next_seq: 4 });
    expect((await ask('GET', '/messages?after=1&limit=1')).json).toMatchObject({ messages: [sent[1]] });
    expect((await ask('GET', '/messages?limit=0')).status).toBe(400);
    expect((await ask('GET', '/messages?after=-1')).status).toBe(400);
    expect(host.acks.every(({ seen }) => seen.length === 0)).toBe(true);
  });

  it.each(['/messages', '/message'])('are accepted on %s when the host has them', async (path) => {
    const body = { content: 'hello', message_type: 'request', reply_to: 'm1' };
    expect(await ask('POST', path, { ...asPeer, body })).toMatchObject({
      status: 202,
      json: { message_id: 'accepted-1', state: 'Accepted' },
    });
    expect(await ask('POST', path, { body: { ...body, to: 'carl' } })).toMatchObject({ status: 202 });
    expect(workspace.host.sent).toEqual([
      { ...body, to: 'bob', from: 'ann' },
      { ...body, to: 'carl' },
    ]);
  });

  it.each<[Ask, number]>([
    [{ body: {} }, 400],
    [{ body: { content: '' } }, 400],
    [{ body: 'no json' }, 400],
    [{ body: { content: 'x', extra: 1 } }, 400],
    [{ body: { content: 'x', from: 'ann' } }, 403],
    [{ ...asPeer, body: { content: 'x', from: 'bob' } }, 403],
    [{ ...asPeer, body: { content: 'x', to: 'carl' } }, 403],
    [{ body: { content: '{}', message_type: 'task_assignment' } }, 403],
    [{ body: { content: 'x'.repeat(3_000_000) } }, 413],
  ])('%# are refused before the host is asked', async (options, status) => {
    expect((await ask('POST', '/messages', options)).status).toBe(status);
    expect(workspace.host.sent).toEqual([]);
  });

  it('cannot be sent without the host, and can be sent again later', async () => {
    workspace.connection.destroy();
    const answer = await vi.waitFor(async () => {
      const refused = await ask('POST', '/messages', { body: { content: 'x' } });
      expect(refused.status).toBe(503);
      return refused;
    }, soon);
    expect(answer.json).toMatchObject({ code: 'Unavailable', retryable: true });
    await workspace.connect();
    expect((await ask('POST', '/messages', { body: { content: 'x' } })).status).toBe(202);
  });

  it('become tasks of this agent', async () => {
    const body = { title: 'Do it', command: 'make', timeout_seconds: 60 };
    expect(await ask('POST', '/task', { ...asPeer, body })).toMatchObject({ status: 202, json: { task_id: 'task-1' } });
    expect(workspace.host.tasks).toEqual([{ title: 'Do it', command: 'make', timeoutSeconds: 60 }]);
    expect((await ask('POST', '/task', { body: { title: 'Do it' } })).status).toBe(400);
  });
});

describe('files', () => {
  beforeEach(async () => {
    await workspace.configure(SETTINGS);
    writeFileSync(inRoot('a file'), 'content');
    writeFileSync(join(workspace.directory, 'secret'), 'secret');
    symlinkSync('../secret', inRoot('link'));
    symlinkSync('..', inRoot('way-out'));
    mkdirSync(inRoot('folder'));
  });

  it.each([
    ['/files/a%20file', 200],
    ['/files/folder/../a%20file', 200],
    ['/files/missing', 404],
    ['/files/folder', 400],
    ['/files/link', 403],
    ['/files/way-out/secret', 403],
    ['/files/../secret', 403],
    ['/files/%2e%2e%2fsecret', 403],
    ['/files//etc/passwd', 403],
    ['/files/%', 400],
    ['/files/a%00b', 400],
  ])('GET %s gets %i', async (path, status) => {
    const answer = await ask('GET', path, asPeer);
    expect(answer.status).toBe(status);
    if (status === 200) expect(answer.text).toBe('content');
    else expect(answer.text).not.toContain('secret\n');
  });

  it('are stored where the agent says, and for a peer in its own folder', async () => {
    const body = Buffer.from([0, 1, 2, 255]);
    expect((await ask('POST', '/files/new/deep.bin', { body })).json).toEqual({ path: 'new/deep.bin', bytes: 4 });
    expect((await ask('POST', '/files/deep/new.bin', { ...asPeer, body })).json).toEqual({ path: 'incoming/ann/deep/new.bin', bytes: 4 });
    for (const path of ['new/deep.bin', 'incoming/ann/deep/new.bin']) expect(readFileSync(inRoot(path))).toEqual(body);
  });

  it.each(['/files/../outside', '/files/way-out/outside', '/files/%2e%2e%2foutside'])('are never stored outside: %s', async (path) => {
    for (const who of [{}, asPeer]) {
      const { status } = await ask('POST', path, { ...who, body: 'x' });
      if (who === asPeer && path.includes('way-out')) expect(status).toBe(201);
      else expect(status).toBe(403);
    }
    expect(existsSync(join(workspace.directory, 'outside'))).toBe(false);
  });

  it.each([1, 20 * 1024 * 1024])('%i bytes over 32 MiB are refused whole, with and without a length', async (excessBytes) => {
    const body = Buffer.alloc(32 * 1024 * 1024 + excessBytes);
    expect((await ask('POST', '/files/big', { body })).status).toBe(413);
    expect((await ask('POST', '/files/big', { body, headers: { 'transfer-encoding': 'chunked' } })).status).toBe(413);
    expect(readdirSync(workspace.root).sort()).toEqual(['a file', 'folder', 'link', 'way-out']);
  });

  it('of whoever has no token are not even read, and the refusal arrives', async () => {
    expect((await ask('POST', '/files/big', { token: 'wrong', body: Buffer.alloc(20 * 1024 * 1024) })).status).toBe(401);
  });
});
