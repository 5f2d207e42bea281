/** Agents of a real team that talk by the command `team` alone, in sandboxes and as plain processes. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Agent } from '#api/types.ts';
import { GENERATION } from '#protocol/common.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { CONFIGURATION, FakeHost } from '../../guest-agent/relay/fake-host.fixture.ts';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';
import { requestsFrom } from '../support/agents-requests.ts';
import type { CliResult } from '../support/cli.ts';
import { bundleGuest } from '../support/guest-bundle.ts';
import { GUEST_ID, startGuestProcess } from '../support/running-guest.ts';

/** In the order of the alphabet, because that is the order of their names in a list. */
const ROLES = ['ann', 'bob', 'lead'].map((name) => ({ name }));
/** Messages per kill. */
const BATCH = 12;
const KILLS = 3;

withSandboxes('the command team in sandboxes', () => agentsThatTalk('sandbox'));
describe('the command team in plain processes', () => agentsThatTalk('process'));

function agentsThatTalk(driver: 'sandbox' | 'process'): void {
  const home = new AgentsHome();
  /** Everything that any agent was told here. */
  const told: string[] = [];

  beforeAll(async () => {
    await home.start();
    await home.create('Team', 'talk', { isolation: { driver }, roles: ROLES });
    await home.ready(ROLES.map(({ name }) => `talk-${name}`));
  });
  // Nothing, but for calls that were under way when the guest of bob was killed.
  afterAll(() => home.close(expect.stringMatching(/^(?:\{[^\n]*"name":"talk-bob"[^\n]*connection (?:closed|failed)[^\n]*\}\n)*$/)));

  const as = async (agent: string, ...argv: readonly string[]): Promise<CliResult> => {
    const result = await home.startCli('exec', `talk-${agent}`, '--', ...argv).result;
    told.push(result.stdout, result.stderr);
    // What exec itself says about the exit code.
    return { ...result, stderr: result.stderr.replace(/command terminated with exit code \d+\n$/, '') };
  };
  const team = (agent: string, ...words: readonly string[]) => as(agent, 'team', ...words);
  const said = async (agent: string, ...words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await team(agent, ...words);
    expect([code, stderr], words.join(' ')).toEqual([0, '']);
    return stdout;
  };
  /** What the host knows of an inbox, as it is on its disk. */
  const journal = async (agent: string) => {
    const { metadata } = await home.agent(`talk-${agent}`);
    const lines = readFileSync(join(home.home, 'state', 'mail', `${metadata.uid}.jsonl`), 'utf8')
      .trim()
      .split('\n');
    const records = lines.map((line) => JSON.parse(line) as { is: string; ids?: string[]; message?: { message_id: string } });
    return { text: lines.join('\n'), acked: records.flatMap(({ is, ids }) => (is === 'acked' ? (ids ?? []) : [])), records };
  };

  it('is found by commands, by tasks, and by shells on a terminal', async () => {
    expect((await as('ann', 'sh', '-c', 'team help | head -n 1')).stdout).toMatch(/^team: what an agent can do/);
    const places = 'command -v team; test -S "$AGENTISO_SOCKET"; echo $?; stat -c %a "$AGENTISO_SOCKET"';
    const named = await home.startCli('exec', 'talk-ann', '--', 'sh', '-c', places).result;
    expect(named.stdout).toMatch(/\/bin\/team\n0\n600\n$/);
    await home.create('Task', 'talk-write', { team: 'talk', assignTo: 'ann', command: 'team send bob from a task && team inbox --keep' });
    expect((await home.reached('talk-write', 'Succeeded')).status?.result?.stdout).toMatch(/^[-0-9a-f]{36} (?:accepted|delivered)\n/);
    expect(await said('bob', 'wait', '--from', 'ann', '--ack', '--text')).toBe('from a task\n');
    const terminal = await home.startCli('exec', '-t', 'talk-ann', '--', 'sh', '-c', 'team budget --json').result;
    expect([terminal.code, terminal.stdout]).toEqual([0, expect.stringContaining('"max_agents"')]);
  });

  it('lets two agents talk, who wait for each other', async () => {
    const bob = as('bob', 'sh', '-c', 'q=$(team wait --from ann --type request --timeout 60 --ack --text); team send ann "you said: $q"');
    const ann = as('ann', 'sh', '-c', 'team send bob --type request how are you; team wait --from bob --timeout 60 --ack --text');
    const [first, second] = await Promise.all([ann, bob]);
    expect([first.code, first.stderr, first.stdout.split('\n').slice(1)]).toEqual([0, '', ['you said: how are you', '']]);
    expect([second.code, second.stderr]).toEqual([0, '']);
    for (const agent of ['ann', 'bob']) expect(await said(agent, 'inbox')).toBe('');
  });

  it('shows who is there, and writes to the lead and to all', async () => {
    expect((await said('ann', 'who')).split('\n').map((line) => line.split(/ +/)[0])).toEqual([
      'NAME',
      ...ROLES.map(({ name }) => name),
      '',
    ]);
    await said('ann', 'status', 'half', 'way');
    expect(await said('lead', 'wait', '--type', 'status_update', '--ack', '--text')).toBe('half way\n');
    await said('lead', 'send', '*', '--type', 'broadcast', 'to', 'all');
    for (const agent of ['ann', 'bob']) expect(await said(agent, 'wait', '--from', 'lead', '--ack', '--text')).toBe('to all\n');
    expect(await team('ann', 'send', '*', '--type', 'broadcast', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^team: Forbidden: /),
    });
    expect(await team('ann', 'send', 'nobody', 'x')).toMatchObject({ code: 1, stderr: expect.stringMatching(/^team: NotFound: /) });
    expect(await team('ann', 'send', 'bob', '--type', 'task_assignment', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^team: Forbidden: [^\n]*\n$/),
    });
  });

  it('gives a request to the first who claims it', async () => {
    const request = (await said('ann', 'request', 'look', 'at', 'this', '--timeout', '100')).trim();
    expect(await said('bob', 'wait', '--type', 'request', '--request', request, '--ack')).toContain('look at this');
    expect(await said('bob', 'board')).toContain(request);
    expect(await team('ann', 'claim', request)).toMatchObject({ code: 1, stderr: expect.stringMatching(/^team: /) });
    expect(await said('bob', 'claim', request)).toMatch(/^claimed /);
    expect(await team('lead', 'claim', request)).toMatchObject({ code: 1, stderr: expect.stringContaining('not claimed: ') });
    await said('bob', 'note', request, 'nearly');
    await said('bob', 'done', request, 'it', 'is', 'fine');
    await vi.waitFor(async () => {
      const answers = JSON.parse(await said('ann', 'inbox', '--keep', '--json')).messages as { message_type: string; content: string }[];
      expect(answers.filter(({ message_type }) => message_type === 'response')).toHaveLength(2);
    }, WAIT);
    await said('ann', 'inbox');
    await said('lead', 'inbox');
  });

  it('shares notes', async () => {
    await said('ann', 'vault', 'write', 'teams/talk/notes/plan.md', '# Plan');
    await said('bob', 'vault', 'write', 'teams/talk/notes/plan.md', 'more', '--append');
    expect(await said('bob', 'vault', 'cat', 'teams/talk/notes/plan.md')).toBe('# Plan\nmore\n');
    expect(await said('bob', 'vault', 'search', 'Plan')).toContain('teams/talk/notes/plan.md:1: # Plan');
    expect(await said('bob', 'vault', 'ls', 'teams/talk/notes')).toContain('teams/talk/notes/plan.md');
  });

  it('changes nothing by looking: not by waiting, not with --keep, not over HTTP', async () => {
    await said('ann', 'send', 'bob', 'stay');
    await said('bob', 'wait', '--from', 'ann');
    const before = await vi.waitFor(async () => {
      const now = await journal('bob');
      expect(now.records.at(-1)?.is).toBe('delivered');
      return now;
    }, WAIT);
    for (let time = 0; time < 2; time += 1) {
      expect(await said('bob', 'wait', '--from', 'ann', '--text')).toBe('stay\n');
      expect(await said('bob', 'inbox', '--keep', '--text')).toBe('stay\n');
      const [answer] = await requestsFrom(home, 'talk-bob', [{ url: 'own:/messages', token: 'agent' }]);
      expect(JSON.parse(answer?.text ?? '').messages).toMatchObject([{ content: 'stay' }]);
      await said('bob', 'who');
    }
    expect((await journal('bob')).text).toBe(before.text);
    expect(await said('bob', 'inbox', '--text')).toBe('stay\n');
    const id = before.records.findLast(({ is }) => is === 'message')?.message?.message_id;
    await vi.waitFor(async () => expect((await journal('bob')).acked).toContain(id), WAIT);
    expect(await team('bob', 'wait', '--timeout', '1')).toMatchObject({ code: 1, stdout: '', stderr: 'team: no message within 1 s\n' });
  });

  it('wakes up a waiting agent at once', async () => {
    const waiter = home.startCli(
      'exec',
      'talk-bob',
      '--',
      'sh',
      '-c',
      'echo ready; team wait --from ann --timeout 60 --text && date +%s%3N',
    );
    await waiter.said('ready');
    const wordOfBob = async () => {
      const { agents } = JSON.parse(await said('ann', 'who', '--json')) as { agents: { name: string; status: string }[] };
      return agents.find(({ name }) => name === 'bob')?.status;
    };
    await vi.waitFor(async () => expect(await wordOfBob()).toBe('waiting'), WAIT);
    const sent = await as('ann', 'sh', '-c', 'date +%s%3N; team send bob now');
    const { stdout } = await waiter.result;
    expect(stdout).toMatch(/^ready\nnow\n\d+\n$/);
    const tookMs = Number(stdout.split('\n')[2]) - Number(sent.stdout.split('\n')[0]);
    console.info(`${driver}: ${tookMs} ms from before team send was started until team wait had ended`);
    await said('bob', 'inbox');
    await vi.waitFor(async () => expect(await wordOfBob()).toBe('idle'), WAIT);
  });

  it('gives each message once, in order, to an agent whose guest is killed again and again', async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const [before] = (await home.ready(['talk-bob'])) as [Agent];
      const first = kill * BATCH;
      const loop = `i=${first}; while [ $i -lt ${first + BATCH} ]; do team send bob "number $i" > /dev/null && i=$((i + 1)); done`;
      const sending = as('ann', 'sh', '-c', loop);
      await vi.waitFor(async () => expect((await journal('bob')).text).toContain(`"number ${first + 2}"`), WAIT);
      killOwn(guestOf(before.status?.pid ?? 0, before.metadata.uid), before.metadata.uid);
      expect(await sending).toMatchObject({ code: 0 });
      await home.ready(['talk-bob'], ({ status }) => status?.incarnation !== before.status?.incarnation);
    }
    const wanted = Array.from({ length: KILLS * BATCH }, (_, index) => `number ${index}`);
    await vi.waitFor(
      async () => expect(await said('bob', 'inbox', '--keep', '--limit', '100', '--text')).toBe(`${wanted.join('\n')}\n`),
      WAIT,
    );
    expect(await said('bob', 'inbox', '--limit', '100', '--text')).toBe(`${wanted.join('\n')}\n`);
    const [agent] = (await home.ready(['talk-bob'])) as [Agent];
    killOwn(guestOf(agent.status?.pid ?? 0, agent.metadata.uid), agent.metadata.uid);
    await home.ready(['talk-bob'], ({ status }) => status?.incarnation !== agent.status?.incarnation);
    expect(await said('bob', 'inbox')).toBe('');
    await vi.waitFor(async () => expect((await journal('bob')).acked.length).toBeGreaterThanOrEqual(wanted.length), WAIT);
  });

  it('told nobody where anything lies on the host', () => {
    expect(told.length).toBeGreaterThan(50);
    expect(told.filter((text) => text.includes(home.folder))).toEqual([]);
  });
}

it('finds a message of which no hint ever came', async () => {
  const bundle = await bundleGuest();
  const guest = await startGuestProcess(bundle.path);
  const host = new FakeHost();
  host.areHintsLost = true;
  const relay = host.join(connect(guest.relayPath));
  try {
    await relay.call('hello', { generation: GENERATION, ...GUEST_ID });
    await guest.client.call('configure', CONFIGURATION);
    await vi.waitFor(() => expect(host.pulls.length).toBeGreaterThan(0), WAIT);
    const waiting = guest.client.call('exec', { command: 'team wait --timeout 60 --text', timeoutMs: 90_000 });
    const sentAtMs = performance.now();
    host.send({ content: 'unannounced' });
    expect(await waiting).toMatchObject({ exitCode: 0, stdout: 'unannounced\n' });
    console.info(`a message without a hint came after ${Math.round(performance.now() - sentAtMs)} ms`);
  } finally {
    relay.close(new ProtocolError('Unavailable', 'the test is over'));
    await guest.stop();
    await bundle.remove();
  }
});

/** The last in the line of processes that carry the agent's uid: its guest. */
function guestOf(pid: number, uid: string): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  const child = children.find((each) => readFileSync(`/proc/${each}/cmdline`, 'utf8').includes(uid));
  return child === undefined ? pid : guestOf(child, uid);
}

/** Only what carries the agent's uid on its command line is ever killed from here. */
function killOwn(pid: number, uid: string): void {
  expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain(uid);
  process.kill(pid, 'SIGKILL');
}
