/** MCP as clients reach it: over stdio, over the private socket, over HTTPS with a token; who may what, and how sessions end. */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { inTemporaryFolder, runCli } from '../support/cli.ts';
import { type Daemon, issueToken, startDaemon, temporaryFolder } from '../support/daemon.ts';
import { answerOf, fetchFrom, httpTransport, mcpClient, socketTransport, stdioTransport } from '../support/mcp-client.ts';
import { initialize, PROGRAM, rawProgram, rawSocket } from '../support/mcp-raw.ts';

const WAIT = { timeout: 20_000, interval: 20 };
const place = temporaryFolder();
const home = join(place.folder, 'home');
let daemon: Daemon;
let viewer: string;
let other: string;
const clients: Client[] = [];

beforeAll(async () => {
  viewer = await issueToken(home, 'viewer', 'eve');
  other = await issueToken(home, 'admin', 'ann');
  daemon = await startDaemon(home);
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

afterAll(async () => {
  expect(await daemon.stop()).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(/^agentiso ready: [^\n]*\n$/) });
  place.remove();
});

async function open(transport: Transport): Promise<Client> {
  const client = await mcpClient(transport);
  clients.push(client);
  return client;
}

const WAYS: readonly [string, () => Transport][] = [
  ['stdio', () => stdioTransport(home)],
  ['the private socket', () => socketTransport(home)],
  ['HTTPS', () => httpTransport(daemon.server)],
];

/** How many watches are open on the API. */
async function watches(): Promise<number> {
  const { text } = await daemon.api.call('GET', '/metrics');
  return Number(/^agentiso_api_watches (\d+)/m.exec(text)?.[1]);
}

const FOLLOW = { name: 'watch', arguments: { kind: 'merges', timeout_seconds: 100 } };

describe.each(WAYS)('over %s', (_, transport) => {
  it('a client finds tools, calls one and is refused with a reason', async () => {
    const client = await open(transport());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['team_list', 'apply', 'get', 'delete', 'assign_task', 'workspace_exec']),
    );
    expect(answerOf(await client.callTool({ name: 'list', arguments: { kind: 'tasks' } }))).toMatchObject({ rows: [] });
    const refused = await client.callTool({ name: 'team_statuss', arguments: {} });
    expect([refused['isError'], answerOf(refused)]).toEqual([
      true,
      { error: { code: 'Invalid', message: 'there is no tool "team_statuss"', retryable: false, hint: 'did you mean team_status?' } },
    ]);
    expect(JSON.stringify(await client.callTool({ name: 'get', arguments: { kind: 'team', name: 'nobody' } }))).not.toContain(place.folder);
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0);
    expect((await client.listResourceTemplates()).resourceTemplates.length).toBeGreaterThan(0);
  });

  it('a call that waits tells of it, and ends when it is taken back', async () => {
    const client = await open(transport());
    const [cancel, told] = [new AbortController(), [] as string[]];
    const onprogress = ({ message = '' }) => void told.push(message);
    const call = client.callTool(FOLLOW, undefined, { signal: cancel.signal, onprogress });
    const ended = expect(call).rejects.toThrow();
    await vi.waitFor(() => expect(told).toContain('waiting for changes of merges'), WAIT);
    await vi.waitFor(async () => expect(await watches()).toBe(1), WAIT);
    cancel.abort();
    await ended;
    await vi.waitFor(async () => expect(await watches()).toBe(0), WAIT);
    await client.ping();
  });

  it('a client that goes away leaves nothing', async () => {
    const client = await open(transport());
    client.callTool(FOLLOW).catch(() => {});
    await vi.waitFor(async () => expect(await watches()).toBe(1), WAIT);
    await client.close();
    await vi.waitFor(async () => expect(await watches()).toBe(0), WAIT);
  });

  it('two clients do not disturb each other', async () => {
    const [one, two] = await Promise.all([open(transport()), open(transport())]);
    const slow = one.callTool({ name: 'watch', arguments: { kind: 'merges', timeout_seconds: 1 } });
    expect(answerOf(await two.callTool({ name: 'team_list', arguments: {} }))).toMatchObject({ teams: [] });
    expect(answerOf(await slow)).toMatchObject({ timed_out: true });
  });
});

describe('over lines', () => {
  it.each([...SUPPORTED_PROTOCOL_VERSIONS, '1999-01-01'])('a client of %s is served', async (version) => {
    const raw = rawSocket(home);
    raw.send(initialize(1, version));
    const { result } = await raw.answer(1);
    expect(result?.['protocolVersion']).toBe(version === '1999-01-01' ? SUPPORTED_PROTOCOL_VERSIONS[0] : version);
    raw.send({ method: 'notifications/initialized' });
    raw.send({ id: 2, method: 'tools/list' });
    expect((await raw.answer(2)).result).toHaveProperty('tools');
    raw.close();
  });

  it('what is no message is refused, and the session goes on', async () => {
    const raw = rawSocket(home);
    raw.line('{"jsonrpc": nonsense');
    expect(await raw.answer(null)).toMatchObject({ error: { code: -32700 } });
    const large = {
      method: 'tools/call',
      params: { name: 'apply', arguments: { manifest: 'x'.repeat(5 * 1024 * 1024) } },
      jsonrpc: '2.0',
      id: 7,
    };
    raw.line(JSON.stringify(large));
    expect(await raw.answer(7)).toMatchObject({ error: { code: -32600, message: expect.stringContaining('bytes') } });
    raw.send({ id: 8, method: 'ping' });
    expect(await raw.answer(8)).toMatchObject({ result: {} });
    raw.close();
  });

  it('only the user of the daemon can open the socket', () => {
    expect(statSync(join(home, 'mcp.sock')).mode & 0o777).toBe(0o600);
  });
});

describe('agentiso mcp', () => {
  it('says nothing but MCP, and ends with its client', async () => {
    const program = rawProgram(home);
    program.send(initialize(0));
    await program.answer(0);
    program.send({ id: 1, method: 'tools/list' });
    program.end();
    expect(await program.ended).toEqual({ code: 0, stderr: '' });
    expect(program.messages.map(({ id }) => id)).toEqual([0, 1]);
  });

  it.each([
    ['a file', (program: string, file: string) => `${program} < ${file} > ${file}.out`],
    ['a pipe', (program: string, file: string) => `cat ${file} | ${program} | cat > ${file}.out`],
  ])('takes what is said from %s', (_, command) => {
    const file = join(place.folder, 'said');
    const said = [initialize(0), { id: 1, method: 'ping' }, { id: 2, method: 'tools/list' }];
    writeFileSync(file, said.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''));
    const program = `"${process.execPath}" "${PROGRAM}" mcp --home "${home}"`;
    const { status, stderr } = spawnSync('sh', ['-c', command(program, `"${file}"`)], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    const answers = readFileSync(`${file}.out`, 'utf8').trimEnd().split('\n');
    expect(answers.map((line) => (JSON.parse(line) as { id: number }).id).sort()).toEqual([0, 1, 2]);
  });

  it('ends with Ctrl-C', async () => {
    const program = rawProgram(home);
    program.send(initialize(0));
    await program.answer(0);
    program.child.kill('SIGINT');
    expect(await program.ended).toEqual({ code: 0, stderr: '' });
  });

  it('says how to start a daemon when there is none', async () => {
    const program = rawProgram(join(place.folder, 'nobody'));
    program.send(initialize(0));
    const sentence = `no daemon answers at ${place.folder}/nobody (start one with: agentiso serve --home ${place.folder}/nobody)`;
    expect(await program.answer(0)).toMatchObject({ error: { message: sentence } });
    program.end();
    expect(await program.ended).toEqual({ code: 1, stderr: `agentiso: ${sentence}\n` });
  });

  it('prints what a client has to be told', async () => {
    const { code, stdout } = await runCli(['mcp', '--home', home, '--print-config', 'claude']);
    expect([code, JSON.parse(stdout)]).toEqual([0, { mcpServers: { agentiso: { command: 'agentiso', args: ['mcp', '--home', home] } } }]);
  });

  it('lives through a restart of the daemon, in a folder as deep as one likes', async () => {
    await inTemporaryFolder(async (folder) => {
      const deep = join(folder, 'a'.repeat(60), 'b'.repeat(60), 'home');
      const first = await startDaemon(deep);
      const program = rawProgram(deep);
      program.send(initialize(0));
      await program.answer(0);
      program.send({ method: 'notifications/initialized' });
      program.send({ id: 1, method: 'tools/call', params: { ...FOLLOW, _meta: { progressToken: 'p' } } });
      await vi.waitFor(() => expect(program.messages.map(({ method }) => method)).toContain('notifications/progress'), WAIT);
      await first.kill();
      expect(await program.answer(1)).toMatchObject({ error: { message: expect.stringContaining('ask again') } });
      const second = await startDaemon(deep);
      program.send({ id: 2, method: 'tools/call', params: { name: 'team_list', arguments: {} } });
      expect(await program.answer(2)).toMatchObject({ result: { structuredContent: { teams: [] } } });
      program.end();
      expect((await program.ended).code).toBe(0);
      expect(await second.stop()).toMatchObject({ code: 0, stderr: '' });
    });
  });
});

describe('over HTTPS', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetchFrom(daemon.server)(`${daemon.server.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${daemon.server.token}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      body,
    });
  const first = JSON.stringify({ jsonrpc: '2.0', ...initialize(0) });
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const session = async (headers: Record<string, string> = {}) => (await post(first, headers)).headers.get('mcp-session-id') ?? '';

  it('a viewer reads, and may do nothing else', async () => {
    const client = await open(httpTransport(daemon.server, viewer));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('get');
    expect(tools.filter(({ annotations }) => annotations?.readOnlyHint !== true)).toEqual([]);
    expect(answerOf(await client.callTool({ name: 'delete', arguments: { kind: 'team', name: 'a' } }))).toMatchObject({
      error: { code: 'Forbidden', message: expect.stringContaining('eve') },
    });
    expect(answerOf(await client.callTool({ name: 'workspace_file_read', arguments: { team: 'a', agent: 'b', path: 'x' } }))).toMatchObject(
      {
        error: { code: 'Forbidden' },
      },
    );
    expect(answerOf(await client.callTool({ name: 'team_list', arguments: {} }))).toMatchObject({ teams: [] });
  });

  it('whoever shows no token of this daemon is refused, and web pages are', async () => {
    expect((await post(first, { authorization: '' })).status).toBe(401);
    expect((await post(first, { authorization: 'Bearer bad' })).status).toBe(401);
    expect((await post(first, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(first, { host: 'evil.example' })).status).toBe(403);
  });

  it('a session belongs to the token that began it', async () => {
    const id = await session();
    expect((await post(ping, { 'mcp-session-id': id })).status).toBe(200);
    expect((await post(ping, { 'mcp-session-id': id, authorization: `Bearer ${other}` })).status).toBe(404);
    expect((await post(ping, { 'mcp-session-id': id, authorization: `Bearer ${viewer}` })).status).toBe(404);
    expect((await post(ping, { 'mcp-session-id': 'guessed' })).status).toBe(404);
    expect((await post(ping)).status).toBe(400);
  });

  it('a session ends when its client says so', async () => {
    const id = await session();
    const end = await fetchFrom(daemon.server)(`${daemon.server.url}/mcp`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${daemon.server.token}`, 'mcp-session-id': id },
    });
    expect(end.status).toBe(200);
    expect((await post(ping, { 'mcp-session-id': id })).status).toBe(404);
  });

  it.each([
    ['no JSON', '{', 400, -32700],
    ['too large', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(5 * 1024 * 1024) } }), 413, -32600],
  ])('a body that is %s is refused', async (_, body, status, code) => {
    const response = await post(body, { 'mcp-session-id': await session() });
    expect([response.status, ((await response.json()) as { error: { code: number } }).error.code]).toEqual([status, code]);
  });

  it('other methods are refused', async () => {
    const response = await fetchFrom(daemon.server)(`${daemon.server.url}/mcp`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${other}` },
    });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, GET, DELETE']);
  });

  it('a token that is taken away ends its sessions and their streams', async () => {
    const token = (await runCli(['token', 'create', 'bob', '--role', 'admin', '--home', home])).stdout.trim();
    const id = await session({ authorization: `Bearer ${token}` });
    const stream = await fetchFrom(daemon.server)(`${daemon.server.url}/mcp`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', 'mcp-session-id': id },
    });
    expect(stream.status).toBe(200);
    expect((await runCli(['token', 'revoke', 'bob', '--home', home])).code).toBe(0);
    // It ends: what it said until then is of no interest.
    await stream.text();
    expect((await post(ping, { 'mcp-session-id': id, authorization: `Bearer ${token}` })).status).toBe(401);
  });
});

describe('what is under way', () => {
  it('is written down with who asked', async () => {
    const client = await open(httpTransport(daemon.server, viewer));
    await client.callTool({ name: 'get', arguments: { kind: 'team', name: 'nobody' } });
    const lines = () =>
      readFileSync(join(home, 'state', 'audit', 'calls.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object);
    await vi.waitFor(
      () =>
        expect(lines()).toContainEqual(expect.objectContaining({ who: 'eve', tool: 'get', resource: 'team/nobody', outcome: 'NotFound' })),
      WAIT,
    );
  });

  it('ends with the daemon, on every way', async () => {
    await inTemporaryFolder(async (folder) => {
      const own = await startDaemon(join(folder, 'home'));
      const raw = rawSocket(own.home);
      raw.send(initialize(0));
      await raw.answer(0);
      raw.send({ id: 1, method: 'tools/call', params: FOLLOW });
      const http = await mcpClient(httpTransport(own.server));
      http.callTool(FOLLOW).catch(() => {});
      await vi.waitFor(async () => expect((await own.api.call('GET', '/metrics')).text).toContain('agentiso_api_watches 2'), WAIT);
      expect(await own.stop()).toMatchObject({ code: 0, stderr: '' });
      await raw.closed;
      await http.close();
    });
  });
});
