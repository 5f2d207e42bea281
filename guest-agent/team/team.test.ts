import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { bundleGuest, type GuestBundle } from '../../test/support/guest-bundle.ts';
import { FakeWorkspace } from '../relay/fake-host.fixture.ts';
import { Inbox } from '../state/inbox.ts';
import { ask } from './client.ts';
import { COMMANDS, runTeam } from './program.ts';

const soon = { timeout: 10_000, interval: 10 };

let bundle: GuestBundle;
let workspace: FakeWorkspace;

beforeAll(async () => {
  bundle = await bundleGuest();
}, 60_000);

afterAll(() => bundle?.remove());

beforeEach(async () => {
  workspace = await FakeWorkspace.open({ isConfigured: false });
  await workspace.configure({ card: { name: 'bob', team: 'blue' } });
});

afterEach(() => workspace.close());

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The program in this process, over the real socket. */
async function team(words: readonly string[], input = ''): Promise<Ran> {
  let [out, err] = ['', ''];
  const code = await runTeam(words, {
    print: (text) => {
      out += text;
    },
    complain: (text) => {
      err += `${text}\n`;
    },
    readInput: async () => input,
    ask: (verb, params) => ask(workspace.guest.agentSocket, verb, params),
  });
  return { code, out, err };
}

/** The command as it is shipped, in a process of its own. */
function startTeam(words: readonly string[]): ChildProcess {
  const env = { PATH: '/usr/bin:/bin', AGENTISO_NODE: process.execPath, AGENTISO_SOCKET: workspace.guest.agentSocket };
  return spawn(join(dirname(bundle.path), 'bin', 'team'), words, { env, stdio: 'pipe' });
}

async function shipped(words: readonly string[], input = ''): Promise<Ran> {
  const child = startTeam(words);
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin?.end(input);
  const [code] = await once(child, 'close');
  return { code, out, err };
}

const unseen = () => new Inbox(workspace.stateDir, (text) => expect.unreachable(text)).unseen().map(({ message_id }) => message_id);
const stored = (seq: number) => vi.waitFor(() => expect(workspace.host.storedSeq).toBe(seq), soon);

describe('what goes to the host', () => {
  it.each<[string, string, object]>([
    ['request do it --timeout 5 --context here', 'requestTask', { description: 'do it', timeout_seconds: 5, context: 'here' }],
    ['claim r1', 'claimRequest', { request_id: 'r1' }],
    ['release t1', 'releaseTask', { task: 't1' }],
    ['done t1', 'completeTask', { task: 't1' }],
    ['done t1 all is well', 'completeTask', { task: 't1', result: 'all is well' }],
    ['done t1 -', 'completeTask', { task: 't1', result: 'from input' }],
    ['fail t1 no luck', 'updateTask', { task: 't1', status: 'failed', reason: 'no luck' }],
    ['block t1 no key', 'updateTask', { task: 't1', status: 'blocked', reason: 'no key' }],
    ['note t1 look here', 'updateTask', { task: 't1', note: 'look here' }],
    ['progress t1 half', 'updateTask', { task: 't1', progress: 'half' }],
    ['plan t1', 'submitPlan', { task: 't1', plan: 'from input' }],
    ['plan t1 first this', 'submitPlan', { task: 't1', plan: 'first this' }],
    ['approve t1', 'approvePlan', { task: 't1', approved: true }],
    ['refuse t1 too much', 'approvePlan', { task: 't1', approved: false, feedback: 'too much' }],
    ['board --limit 5', 'openRequests', { limit: 5 }],
    ['who', 'listAgents', {}],
    ['budget', 'getBudget', {}],
    ['vault ls', 'vaultList', {}],
    ['vault ls notes --recursive', 'vaultList', { path: 'notes', recursive: true }],
    ['vault cat notes/a.md', 'vaultRead', { path: 'notes/a.md' }],
    ['vault write notes/a.md some words', 'vaultWrite', { path: 'notes/a.md', content: 'some words\n', mode: 'overwrite' }],
    [
      'vault write a.md - --append --if-version v1',
      'vaultWrite',
      { path: 'a.md', content: 'from input\n', mode: 'append', if_version: 'v1' },
    ],
    ['vault search x.y --regex --limit 3 --tag t', 'vaultSearch', { pattern: 'x.y', is_regex: true, limit: 3, tag: 't' }],
    ['spawn red --role dev:2 --role qa', 'createSubTeam', { name: 'red', roles: [{ name: 'dev', count: 2 }, { name: 'qa' }] }],
    ['spawn red --role dev --max-agents 4', 'createSubTeam', { name: 'red', roles: [{ name: 'dev' }], max_agents: 4 }],
  ])('%s', async (words, verb, params) => {
    // This host answers none of them: the command says so in one line.
    expect(await team(words.split(' '), 'from input\n')).toEqual({
      code: 1,
      out: '',
      err: `Unavailable: this host has no answer to ${verb} (try again a little later)\n`,
    });
    expect(workspace.host.asked).toMatchObject([{ verb, params }]);
    expect(workspace.host.asked[0]?.params).toEqual(params);
  });

  it.each<[string[], object]>([
    [['send', 'ann', 'hello', 'you'], { to: 'ann', content: 'hello you' }],
    [['send', '*', '--type', 'broadcast', '--', '--all'], { to: '*', content: '--all', message_type: 'broadcast' }],
    [
      ['send', 'red/ann', '-', '--reply-to', 'm0', '--request', 'r1'],
      { to: 'red/ann', content: 'from\ninput', reply_to: 'm0', request_id: 'r1' },
    ],
    [['send', 'lead'], { to: 'lead', content: 'from\ninput' }],
    [['status', 'half', 'way'], { to: 'lead', content: 'half way', message_type: 'status_update' }],
    [['stop', 'accept'], { to: 'lead', content: 'accept', message_type: 'shutdown_response', metadata: { accepted: 'true' } }],
    [
      ['stop', 'defer', 'in a minute'],
      {
        to: 'lead',
        content: 'in a minute',
        message_type: 'shutdown_response',
        metadata: { accepted: 'deferred', reason: 'in a minute' },
      },
    ],
    [
      ['stop', 'refuse', 'no'],
      { to: 'lead', content: 'no', message_type: 'shutdown_response', metadata: { accepted: 'false', reason: 'no' } },
    ],
  ])('%j', async (words, message) => {
    expect(await team(words, 'from\ninput\n')).toEqual({ code: 0, out: 'accepted-1 accepted\n', err: '' });
    expect(workspace.host.sent).toEqual([message]);
  });
});

describe('what is wrong with the words', () => {
  it.each<[string, RegExp]>([
    ['', /^a command is missing: see team help$/m],
    ['dance', /^there is no command "dance": see team help$/m],
    ['toString', /there is no command/],
    ['send', /^TO, .* is missing; usage: team send TO TEXT/],
    ['send ann', /^there is no text, neither as words nor on standard input; usage/],
    ['fail t1', /^there is no text/],
    ['claim', /^NAME is missing; usage: team claim NAME$/m],
    ['claim a b', /^"b" is too much/],
    ['who else', /^"else" is too much/],
    ['wait --timeout soon', /^--timeout must be a whole number/],
    ['stop maybe', /^"maybe" is no answer/],
    ['vault rm x', /^there is no vault "rm"/],
    ['spawn red', /^at least one --role is needed/],
    ['spawn red --role a:b', /^--role must be NAME or NAME:COUNT/],
  ])('%s', async (words, problem) => {
    const { code, out, err } = await team(words === '' ? [] : words.split(' '));
    expect({ code, out, lines: err.split('\n').length }).toEqual({ code: 2, out: '', lines: 2 });
    expect(err).toMatch(problem);
  });

  it('and what would be right is on one screen, with every command on it', async () => {
    const { code, out } = await team(['help']);
    expect(code).toBe(0);
    const lines = out.split('\n');
    expect(lines.length).toBeLessThanOrEqual(30);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(110);
    for (const name of Object.keys(COMMANDS)) expect(out).toMatch(new RegExp(`\\b${name}\\b`));
    expect(await team(['send', '--help'])).toEqual({ code: 0, out, err: '' });
  });
});

describe('answers', () => {
  it('are read by people, or with --json by programs', async () => {
    const agent = { name: 'ann', team: 'blue', role: 'dev', skills: ['go', 'sql'], status: 'running' as const, uptime_seconds: 5 };
    const open = { request_id: 'r1', title: 'Look', description: 'd', from: 'ann', priority: 3, created_at: 'now' };
    workspace.host.answers = {
      listAgents: async () => ({ agents: [{ ...agent, current_task: 't1' }] }),
      openRequests: async () => ({ requests: [open] }),
      vaultRead: async () => ({ path: 'a.md', content: '# A\n', version: 'v1', frontmatter: {} }),
    };
    expect((await team(['who'])).out).toBe('NAME  ROLE  STATUS   TASK  SKILLS\nann   dev   running  t1    go,sql\n');
    expect((await team(['board'])).out).toBe('NAME  PRIORITY  FROM  EXPIRES  TITLE\nr1    3         ann   -        Look\n');
    expect((await team(['vault', 'cat', 'a.md'])).out).toBe('# A\n');
    expect(JSON.parse((await team(['board', '--json'])).out)).toEqual({ requests: [open] });
  });

  it('to somebody who asks too fast come a little later, unless it does not want to wait', async () => {
    let refusals = 0;
    const tooFast = () => new ProtocolError('RateLimited', 'too fast', undefined, { hint: 'wait', retryAfterMs: 30 });
    const getBudget = async () => {
      if (refusals-- > 0) throw tooFast();
      return { max_agents: 5, used: 1, reserved: 0, remaining: 4, depth: 0, max_depth: 3 };
    };
    workspace.host.answers = { getBudget };
    refusals = 2;
    expect(await shipped(['budget'])).toEqual({ code: 0, out: 'agents: 1 of 5, 0 reserved, 4 left\ndepth: 0 of 3\n', err: '' });
    expect(refusals).toBe(-1);
    refusals = 2;
    expect(await team(['budget', '--no-wait'])).toEqual({ code: 1, out: '', err: 'RateLimited: too fast (wait)\n' });
    expect(refusals).toBe(1);
  });

  it('to a claim decide its exit code', async () => {
    workspace.host.answers = {
      claimRequest: async ({ request_id }) =>
        request_id === 'r1'
          ? { claimed: true, message: 'yours', task: 'task-001', title: 'Look', description: 'well\ndone', attempt: 2 }
          : { claimed: false, message: 'ann was first', winner: 'ann' },
    };
    expect(await team(['claim', 'r1'])).toEqual({ code: 0, out: 'claimed task-001, attempt 2: Look\n  well\n  done\n', err: '' });
    expect(await team(['claim', 'r2'])).toEqual({ code: 1, out: '', err: 'not claimed: ann was first\n' });
    expect((await team(['claim', 'r2', '--json'])).code).toBe(1);
  });
});

describe('mail', () => {
  it('is printed and then acknowledged, once', async () => {
    const { host } = workspace;
    host.send({ content: 'one\ntwo' });
    host.send({ from: 'carl' });
    await stored(2);
    const { timestamp } = host.mailbox[0] ?? { timestamp: '' };
    expect(await team(['inbox', '--from', 'ann'])).toEqual({
      code: 0,
      out: `[ann -> you] text ${timestamp} id=m1\n  one\n  two\n`,
      err: '',
    });
    expect(unseen()).toEqual(['m2']);
    expect((await team(['inbox', '--keep', '--text'])).out).toBe('text 2\n');
    await team(['who']);
    expect(unseen()).toEqual(['m2']);
    expect(JSON.parse((await team(['inbox', '--json'])).out)).toMatchObject({ messages: [{ message_id: 'm2' }], unacked: 1 });
    expect(await team(['inbox'])).toEqual({ code: 0, out: '', err: '' });
    expect(unseen()).toEqual([]);
  });

  it('says that there is more, and gives it the next time', async () => {
    for (let index = 0; index < 12; index += 1) workspace.host.send();
    await stored(12);
    const first = await team(['inbox', '--text']);
    expect([first.out.split('\n').length, first.err]).toEqual([11, '2 more: run it again\n']);
    expect((await team(['inbox', '--text'])).out).toBe('text 11\ntext 12\n');
  });

  it('is waited for, stays new, and is acknowledged when that is wanted', async () => {
    const waiting = team(['wait', '--from', 'carl', '--type', 'response', '--request', 'r1', '--timeout', '10', '--text']);
    workspace.host.send();
    workspace.host.send({ from: 'carl', message_type: 'response', request_id: 'r1', content: 'here' });
    expect(await waiting).toEqual({ code: 0, out: 'here\n', err: '' });
    expect(unseen()).toEqual(['m1', 'm2']);
    expect((await team(['wait', '--from', 'carl', '--ack', '--text'])).out).toBe('here\n');
    expect(unseen()).toEqual(['m1']);
    expect(await team(['wait', '--from', 'carl', '--timeout', '1'])).toEqual({ code: 1, out: '', err: 'no message within 1 s\n' });
    expect(JSON.parse((await team(['wait', '--from', 'carl', '--timeout', '1', '--json'])).out)).toEqual({
      message: null,
      timed_out: true,
    });
    expect(await team(['wait', '--timeout', '121'])).toMatchObject({ code: 1, err: expect.stringMatching(/^Invalid: timeout_seconds /) });
  });
});

describe('the command as it is shipped', () => {
  it('sends, reads standard input, prints, and says by its exit code what became of it', async () => {
    const { host } = workspace;
    expect(await shipped(['send', 'ann', 'hello', 'wörld'])).toEqual({ code: 0, out: 'accepted-1 accepted\n', err: '' });
    expect(await shipped(['send', 'ann'], 'x'.repeat(200_000))).toMatchObject({ code: 0 });
    expect(host.sent.map(({ content }) => content.length)).toEqual([11, 200_000]);
    host.send({ content: 'y'.repeat(250_000) });
    await stored(1);
    expect((await shipped(['inbox', '--text'])).out).toBe(`${'y'.repeat(250_000)}\n`);
    expect(unseen()).toEqual([]);
    expect(await shipped(['claim', 'r1'])).toEqual({ code: 1, out: '', err: expect.stringMatching(/^team: Unavailable: [^\n]*\n$/) });
    expect(await shipped(['claim'])).toEqual({ code: 2, out: '', err: 'team: NAME is missing; usage: team claim NAME\n' });
  });

  it('does not acknowledge what nobody has read', async () => {
    workspace.host.send({ content: 'z'.repeat(250_000) });
    await stored(1);
    const child = startTeam(['inbox']);
    child.stdout?.destroy();
    const [code] = await once(child, 'exit');
    expect(code).toBe(1);
    expect(unseen()).toEqual(['m1']);
  });

  it('ends its wait at the guest when it is killed', async () => {
    const child = startTeam(['wait', '--timeout', '100']);
    await vi.waitFor(async () => expect(await connections()).toBe(1), soon);
    child.kill('SIGKILL');
    await vi.waitFor(async () => expect(await connections()).toBe(0), soon);
  });

  it('says in one line that nobody is there', async () => {
    await workspace.relay.close();
    expect(await shipped(['who'])).toEqual({ code: 1, out: '', err: 'team: the agent does not answer: ENOENT\n' });
  });
});

/** Of the socket, as the kernel counts them: one line for each end that the guest has accepted. */
async function connections(): Promise<number> {
  const lines = (await readFile('/proc/net/unix', 'utf8')).split('\n');
  return lines.filter((line) => line.endsWith(` ${workspace.guest.agentSocket}`) && !line.includes(' 00010000 ')).length;
}
