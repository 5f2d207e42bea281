/** Agents in real sandboxes that talk: to team mates over HTTP with tokens, to nobody else, and never past what their team allows. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';
import { type InnerRequest, requestsFrom } from '../support/agents-requests.ts';

/** By the rules, which answer with a reset, or because nobody listens. */
const REFUSED = 'ECONNREFUSED';

withSandboxes('agents of one team and of another', () => {
  const home = new AgentsHome();
  const url = new Map<string, string>();
  beforeAll(async () => {
    await home.start();
    const isolation = { driver: 'sandbox' };
    await home.create('Team', 'talk', {
      isolation,
      network: { allowInterAgent: true, allowedPorts: [8080, 9000] },
      roles: [{ name: 'one' }, { name: 'two' }, { name: 'leaving' }],
    });
    await home.create('Team', 'other', {
      isolation,
      network: { allowInterAgent: true, allowDomains: ['allowed.test'] },
      roles: [{ name: 'one' }],
    });
    for (const { metadata, status } of await home.ready(['talk-one', 'talk-two', 'talk-leaving', 'other-one'])) {
      url.set(metadata.name, status?.endpoints?.http ?? '');
    }
  });
  // One line, for the rules that a test takes away.
  afterAll(() => home.close(expect.stringMatching(/^\{[^\n]*"network rules drifted"\}\n$/)));

  const from = (agent: string, ...requests: readonly InnerRequest[]) => requestsFrom(home, agent, requests);
  const two = (path: string) => `${url.get('talk-two')}${path}`;

  it('reach each other with the token of the team, and are told apart by their addresses', async () => {
    expect(url.get('talk-two')).toMatch(/^http:\/\/10\.99\.0\.\d+:8080$/);
    const answers = await from(
      'talk-one',
      { url: two('/health') },
      { url: two('/card'), token: 'team' },
      { url: two('/messages'), token: 'team', method: 'POST', json: { content: 'hello', from: 'one' } },
      { url: two('/message'), token: 'team', method: 'POST', json: { content: 'again', message_type: 'text' } },
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 202, 202]);
    expect(JSON.parse(answers[0]?.text ?? '')).toMatchObject({ status: 'ready' });
    expect(JSON.parse(answers[1]?.text ?? '')).toMatchObject({ name: 'two', team: 'talk', url: url.get('talk-two'), status: 'ready' });
    const ids = answers.slice(2).map(({ text }) => JSON.parse(text).message_id);
    await vi.waitFor(async () => {
      const [inbox] = await from('talk-two', { url: two('/messages?limit=100'), token: 'agent' });
      const messages = JSON.parse(inbox?.text ?? '').messages as { message_id: string; from: string; content: string }[];
      expect(messages.map(({ message_id, from, content }) => [message_id, from, content])).toEqual([
        [ids[0], 'one', 'hello'],
        [ids[1], 'one', 'again'],
      ]);
    }, WAIT);
  });

  it('carry files into a folder of the sender, and a task to the agent itself', async () => {
    const [up, down, task] = await from(
      'talk-one',
      { url: two('/files/deep/data.bin'), token: 'team', method: 'POST', bytes: 3_000_000 },
      { url: two('/files/incoming/one/deep/data.bin'), token: 'team' },
      { url: two('/task'), token: 'team', method: 'POST', json: { title: 'count', command: 'wc -c < incoming/one/deep/data.bin' } },
    );
    expect([up?.status, JSON.parse(up?.text ?? '')]).toEqual([201, { path: 'incoming/one/deep/data.bin', bytes: 3_000_000 }]);
    expect([down?.status, down?.text.length]).toEqual([200, 3_000_000]);
    expect(task?.status, task?.text).toBe(202);
    const done = await home.reached(JSON.parse(task?.text ?? '').task_id, 'Succeeded');
    expect([done.status?.result?.stdout, done.status?.owner]).toEqual(['3000000\n', expect.stringMatching(/two$/)]);
  });

  it('are refused what is not theirs, by status', async () => {
    const team = { token: 'team' };
    const post = { ...team, method: 'POST' };
    const cases: [name: string, status: number, path: string, request: Partial<InnerRequest>][] = [
      ['no token', 401, '/card', {}],
      ['a token of nobody', 401, '/card', { token: 'made-up' }],
      ['the own token of the sender', 401, '/card', { token: 'agent' }],
      ["somebody else's mail", 403, '/messages', team],
      ["somebody else's name", 403, '/messages', { ...post, json: { content: 'x', from: 'two' } }],
      ['mail for a third', 403, '/messages', { ...post, json: { content: 'x', to: 'one' } }],
      ['no content', 400, '/messages', { ...post, json: {} }],
      ['a way out of the workspace', 403, '/files/..%2f..%2fetc%2fpasswd', team],
      ['a file that is not there', 404, '/files/nothing', team],
      ['a route that is not there', 404, '/secrets', team],
      ['another method', 405, '/card', { ...team, method: 'DELETE' }],
      ['a file that is too large', 413, '/files/big', { ...post, bytes: 32 * 1024 * 1024 + 1 }],
    ];
    const answers = await from('talk-one', ...cases.map(([_name, _status, path, request]) => ({ ...request, url: two(path) })));
    const got = cases.map(([name], at) => [name, answers[at]?.status]);
    expect(got, JSON.stringify(answers)).toEqual(cases.map(([name, status]) => [name, status]));
  });

  it('do not reach ports that their team does not list, nor agents of another team', async () => {
    const port = home.startCli('exec', 'talk-two', '--', 'node', '-e', server(9001));
    await port.said('listening');
    const [unlisted] = await from('talk-one', { url: two('/').replace(':8080', ':9001') });
    const [own] = await from('talk-two', { url: two('/').replace(':8080', ':9001') });
    expect([unlisted?.error, own?.status]).toEqual([REFUSED, 200]);
    port.child.kill('SIGTERM');
    const [stranger, itself] = await from('other-one', { url: two('/health') }, { url: `${url.get('other-one')}/health` });
    expect([stranger?.status, stranger?.error, itself?.status]).toEqual([0, REFUSED, 200]);
  });

  it('get a message while a command floods the same agent with output', async () => {
    const content = `urgent ${Math.random()}`;
    const flood = home.startCli('exec', 'talk-two', '--', 'sh', '-c', 'yes $(seq 1 100)');
    const watcher = home.startCli('exec', 'talk-two', '--', 'node', '-e', WATCHER, two('/messages?limit=100'), content);
    try {
      await Promise.all([flood.said('98 99 100\n1 2'), watcher.said('watching')]);
      const [sent] = await from('talk-one', { url: two('/messages'), token: 'team', method: 'POST', json: { content } });
      expect(sent?.status, sent?.text).toBe(202);
      const seenAtMs = Number((await watcher.result).stdout.split('\n')[1]);
      const tookMs = seenAtMs - (sent?.sentAtMs ?? 0);
      console.info(`a message was in the inbox ${tookMs} ms after it was sent, while the agent wrote as fast as it could`);
      expect(flood.child.exitCode).toBeNull();
    } finally {
      flood.child.kill('SIGTERM');
      watcher.child.kill('SIGTERM');
    }
  });

  it('have a new token of the team when a member has left, and the old one opens nothing', async () => {
    const tokenOf = (agent: string) => home.inside(agent, 'sh', '-c', 'echo "$AGENTISO_TEAM_TOKEN"');
    const before = await tokenOf('talk-one');
    await home.change('teams', 'talk', { roles: [{ name: 'one' }, { name: 'two' }] });
    const now = await vi.waitFor(async () => {
      const token = await tokenOf('talk-one');
      expect(token).not.toBe(before);
      expect(await tokenOf('talk-two')).toBe(token);
      return token;
    }, WAIT);
    expect(now).toMatch(/^[\w-]{43}\n$/);
    const [old, fresh] = await from('talk-one', { url: two('/card'), token: before.trim() }, { url: two('/card'), token: 'team' });
    expect([old?.status, fresh?.status]).toEqual([401, 200]);
  });

  it('are told by their proxy which name is refused, and an event says so', async () => {
    const proxied = `const http = require('http');
      http.get({ host: '127.0.0.1', port: new URL(process.env.HTTP_PROXY).port, path: 'http://refused.test/', headers: { host: 'refused.test' } },
        (r) => { console.log(r.statusCode, r.headers['x-agentiso-reason']); r.resume(); });`;
    expect(await home.inside('other-one', 'node', '-e', proxied)).toBe('403 NameNotAllowed\n');
    const [event] = await vi.waitFor(async () => {
      const events = await home.events('EgressRefused');
      expect(events).toHaveLength(1);
      return events;
    }, WAIT);
    expect([event.involvedObject.name, event.message]).toEqual(['other-one', expect.stringContaining('refused.test')]);
  });

  it('are kept apart again when somebody takes the rules away, and an event says so', async () => {
    const router = home.machineState().namespaces.find((name) => /^agentiso-[0-9a-f]{8}$/.test(name)) ?? '';
    expect(spawnSync('ip', ['netns', 'exec', router, 'nft', 'delete', 'table', 'inet', 'agentiso']).status).toBe(0);
    const [event] = await vi.waitFor(async () => {
      const events = await home.events('RulesDrifted');
      expect(events.map((each) => each.involvedObject.name).sort()).toEqual(['other', 'talk']);
      return events;
    }, WAIT);
    expect(event.message).toContain('somebody else changed the network rules');
    const [stranger] = await from('other-one', { url: two('/health') });
    const [mate] = await from('talk-one', { url: two('/health') });
    expect([stranger?.error, mate?.status]).toEqual([REFUSED, 200]);
  });

  it('lose an open connection and the way to a new one when their team stops allowing it', async () => {
    const echo = home.startCli('exec', 'talk-two', '--', 'node', '-e', server(9000));
    await echo.said('listening');
    const held = home.startCli(
      'exec',
      'talk-one',
      '--',
      'node',
      '-e',
      HOLDER,
      url.get('talk-two')?.slice('http://'.length, -':8080'.length) ?? '',
    );
    await held.said('pong');
    const changedAtMs = Date.now();
    await home.change('teams', 'talk', { network: { allowInterAgent: false } });
    // Ends by itself once nothing has come back for a second.
    const last = Number((await held.result).stdout.trim().split('\n').at(-1)?.split(' ')[1]);
    console.info(`the last answer on the connection came ${Math.max(0, last - changedAtMs)} ms after the change was asked for`);
    expect(last - changedAtMs).toBeLessThan(5_000);
    echo.child.kill('SIGTERM');
    await vi.waitFor(async () => {
      const [loopback, own] = await from('talk-two', { url: 'http://127.0.0.1:8080/health' }, { url: two('/health') });
      expect([loopback?.status, own?.error]).toEqual([200, REFUSED]);
    }, WAIT);
    const [closed, team] = await from('talk-one', { url: two('/health') }, { url: 'http://127.0.0.1:8080/card', token: 'agent' });
    expect([closed?.error, team?.status]).toEqual([REFUSED, 200]);
    expect(await home.inside('talk-one', 'sh', '-c', 'echo "$AGENTISO_HTTP_URL [$AGENTISO_TEAM_TOKEN]"')).toBe(
      'http://127.0.0.1:8080 []\n',
    );
    const [one] = (await home.ready(['talk-one'], ({ status }) => status?.endpoints?.http === null)) as [Agent];
    expect(one.status?.ip).toMatch(/^10\.99\./);
  });
});

/** Answers every HTTP request, and every line that is not one with `pong`. */
const server = (port: number) => `
require('net').createServer((socket) => {
  socket.on('error', () => {});
  socket.on('data', (bytes) => String(bytes).startsWith('GET') ? socket.end('HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n') : socket.write('pong'));
}).listen(${port}, '0.0.0.0', () => console.log('listening'));`;

/** Asks all the time on one connection, says when each answer came, and ends when there has been none for a second. */
const HOLDER = `
const socket = require('net').connect(9000, process.argv[1]);
let timer;
const ask = () => { socket.write('ping'); };
socket.on('error', () => process.exit(0));
socket.on('connect', ask);
socket.on('data', () => {
  console.log('pong', Date.now());
  clearTimeout(timer);
  timer = setTimeout(() => process.exit(0), 1000);
  setTimeout(ask, 50);
});`;

/** Looks into its own inbox until the text is there; then says the time. */
const WATCHER = `
const [url, text] = process.argv.slice(1);
const headers = { authorization: 'Bearer ' + process.env.AGENTISO_AGENT_TOKEN };
(async () => {
  console.log('watching');
  for (;;) {
    const { messages } = await (await fetch(url, { headers })).json();
    if (messages.some(({ content }) => content === text)) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  console.log(Date.now());
})();`;
