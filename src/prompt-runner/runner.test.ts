import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { script } from '../../test/support/acp-agent/bundle.ts';
import { RunnerLab } from './runner.fixture.ts';

const lab = new RunnerLab();
beforeAll(() => lab.open(), 30_000);
afterAll(() => lab.close());

const soon = { timeout: 20_000, interval: 20 };
const inWorkspace = (name: string) => join(lab.workspace, name);
const agentsAlive = () =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(lab.folder, 'acp-agent.cjs'));
    } catch {
      return false;
    }
  });

it('lets the agent work with the tools of its team, and says what it did', async () => {
  writeFileSync(inWorkspace('AGENTS.md'), 'Write tests first.');
  const steps = [
    { op: 'say', text: 'I begin. ' },
    { op: 'write', path: 'out/a.txt', content: 'made' },
    { op: 'mcp', tool: 'send_message', args: { to: 'bob', content: 'hello' } },
    { op: 'usage', used: 1234, costUsd: 0.25 },
    { op: 'say', text: 'Done.' },
  ];
  const run = lab.start({ text: script(...steps), unread: '--- Messages from other agents ---\n', unreadIds: ['m1', 'm2'] });
  const { code, outcome } = await run.ended;
  expect([code, run.stderr()]).toEqual([0, '']);
  expect(outcome).toMatchObject({ text: 'I begin. Done.', stopReason: 'end_turn', evidence: { toolCalls: 2, filesChanged: 1 } });
  expect(outcome.usage).toEqual({ inputTokens: 100, outputTokens: 20, costUsd: 0.25, contextTokens: 1234 });
  expect(readFileSync(inWorkspace('out/a.txt'), 'utf8')).toBe('made');
  expect(lab.mcpCalls()).toContain('{"name":"send_message","arguments":{"to":"bob","content":"hello"}}');
  expect(lab.asked.filter(({ verb }) => verb === 'checkMessages').map(({ params }) => params)).toEqual([{ limit: 0, ack: ['m1', 'm2'] }]);
  const [prompt, ...rest] = lab.transcript();
  expect(prompt?.text).toMatch(
    /^--- Messages from other agents ---\n\ndo this[\s\S]*--- Conventions \(AGENTS.md\) ---\nWrite tests first.\n/,
  );
  expect(rest.map(({ type, text }) => `${type} ${text}`)).toEqual([
    'agent I begin. ',
    'tool write out/a.txt',
    'tool write out/a.txt: completed',
    'tool mcp send_message',
    'tool mcp send_message: completed',
    'agent Done.',
    'end end_turn',
  ]);
  expect(run.stdout()).toContain('I begin. \n[tool] write out/a.txt\n');
  expect(agentsAlive()).toEqual([]);
});

it('counts for nothing when it neither calls a tool nor changes a file; a provider that wants no more is told apart', async () => {
  const { code, outcome } = await lab.start({ text: script({ op: 'say', text: 'All done!' }) }).ended;
  expect([code, outcome.error?.code]).toEqual([1, 'NoEvidence']);
  const said = 'API Error: 429 rate limit reached, retry after 120 seconds';
  const failed = await lab.start({ text: script({ op: 'fail', message: 'Internal error', data: { details: said } }) }).ended;
  expect(failed.outcome.error).toMatchObject({ code: 'RateLimited' });
  const inSeconds = (Date.parse(failed.outcome.retryAt ?? '') - Date.now()) / 1_000;
  expect(inSeconds).toBeGreaterThan(60);
  expect(inSeconds).toBeLessThanOrEqual(120);
});

it('is cancelled by SIGTERM: the agent hears of it, and nothing of it is left', async () => {
  const run = lab.start({
    text: script(
      { op: 'write', path: 'begun', content: '' },
      { op: 'run', command: 'sleep 987 > /dev/null 2>&1 & echo $! > pid' },
      { op: 'hang' },
    ),
  });
  await vi.waitFor(() => expect(existsSync(inWorkspace('pid'))).toBe(true), soon);
  await vi.waitFor(() => expect(run.stdout()).toContain('run: completed'), soon);
  run.child.kill('SIGTERM');
  const { code, outcome } = await run.ended;
  expect([code, outcome.error?.code, outcome.stopReason]).toEqual([1, 'Cancelled', 'cancelled']);
  const pid = readFileSync(inWorkspace('pid'), 'utf8').trim();
  await vi.waitFor(
    () => expect(existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')).toBe(false),
    soon,
  );
  expect(agentsAlive()).toEqual([]);
});

it('says with what words an agent crashed', async () => {
  const { outcome } = await lab.start({ text: script({ op: 'crash', message: 'out of ideas' }) }).ended;
  expect(outcome.error).toEqual({ code: 'AgentCrashed', message: 'it exited with 7 during session/prompt: out of ideas' });
});

it('starts an agent up to three times', async () => {
  const failing = join(lab.home, '.acp-agent', 'failing-starts');
  mkdirSync(join(lab.home, '.acp-agent'), { recursive: true });
  writeFileSync(failing, '2');
  const good = await lab.start({ text: script({ op: 'write', path: 'late', content: 'x' }) }).ended;
  expect([good.outcome.error, good.outcome.notes?.map(({ reason }) => reason)]).toEqual([undefined, ['StartFailed', 'StartFailed']]);
  writeFileSync(failing, '3');
  const bad = await lab.start({ text: script() }).ended;
  expect(bad.outcome.error?.code).toBe('BackendFailed');
  expect(bad.outcome.error?.message).toContain('cannot start today');
});

it('does not start an agent without the tools of its team, or one that is not there', async () => {
  const without = await lab.start({ text: script(), team: join(lab.folder, 'nothing') }).ended;
  expect(without.outcome.error?.code).toBe('McpUnavailable');
  const missing = await lab.start({ text: script(), backend: 'codex' }).ended;
  expect(missing.outcome.error?.code).toBe('BackendMissing');
});

it('answers by rules, and by the kind of an option: never by its id', async () => {
  const steps = [
    { op: 'run', command: 'echo one > one', ask: true },
    { op: 'run', command: 'rm -rf /', ask: true },
    { op: 'write', path: '/etc/agentiso-was-here', content: 'x', ask: true },
    { op: 'write', path: 'three', content: 'x', ask: true },
  ];
  const rules = [
    { action: 'allow' as const, command: 'echo *' },
    { action: 'deny' as const, tool: 'write three' },
    { action: 'allow' as const },
  ];
  const { outcome } = await lab.start({ text: script(...steps), rules }).ended;
  expect([existsSync(inWorkspace('one')), existsSync('/etc/agentiso-was-here'), existsSync(inWorkspace('three'))]).toEqual([
    true,
    false,
    false,
  ]);
  expect(outcome.notes).toEqual([
    { reason: 'PermissionDenied', message: 'run: recursive forced removal is never allowed' },
    { reason: 'PermissionDenied', message: 'write /etc/agentiso-was-here: /etc/agentiso-was-here is outside of the workspace' },
    { reason: 'PermissionDenied', message: 'write three: rule 2' },
  ]);
});

it('asks a person where a rule says so, and takes silence for no', async () => {
  lab.asked.length = 0;
  lab.answers = {
    checkMessages: ({ limit }) => {
      const answer = { message_id: 'r1', from: 'orchestrator', reply_to: 'asked-1', content: 'yes, go on' };
      return { messages: limit === 0 ? [] : [answer] };
    },
  };
  const step = { op: 'run', command: 'echo asked > asked', ask: true };
  const yes = await lab.start({ text: script(step), rules: [{ action: 'ask' }] }).ended;
  expect([yes.outcome.notes, existsSync(inWorkspace('asked'))]).toEqual([undefined, true]);
  expect(lab.asked.map(({ verb }) => verb)).toEqual(['sendMessage', 'checkMessages', 'checkMessages']);
  expect(lab.asked[0]?.params).toMatchObject({
    to: 'lead',
    message_type: 'request',
    content: expect.stringContaining('echo asked > asked'),
  });
  expect(lab.asked[2]?.params).toEqual({ limit: 0, ack: ['r1'] });
  lab.answers = {};
  const no = await lab.start({ text: script({ ...step, command: 'echo no > no' }), rules: [{ action: 'ask' }], askMs: 50 }).ended;
  expect(no.outcome.notes?.[0]?.message).toBe('run: nobody answered within 0 s');
  expect(existsSync(inWorkspace('no'))).toBe(false);
});

it('pushes an agent that gets nowhere, gives its work to a new session, and gives up in the end', async () => {
  const { outcome } = await lab.start({ text: script({ op: 'run', command: 'true' }, { op: 'stop', reason: 'max_tokens' }) }).ended;
  expect(outcome.error?.code).toBe('NoProgress');
  expect(outcome.notes?.map(({ reason }) => reason)).toEqual(['Nudged', 'HandedOver']);
  const prompts = lab.transcript().filter(({ type }) => type === 'prompt');
  expect(prompts).toHaveLength(9);
  expect(prompts[3]?.text).toMatch(/^Your last turns did the same things/);
  expect(prompts[6]?.text).toMatch(/^do this[\s\S]*--- Hand-over ---/);
});

it('calls off a turn that goes round in a circle, and treats it as one that gets nowhere', async () => {
  const step = { op: 'run', command: 'true' };
  const { outcome } = await lab.start({ text: script({ op: 'again', step }) }).ended;
  expect(outcome.error?.code).toBe('NoProgress');
  expect(outcome.notes?.map(({ reason }) => reason)).toEqual(['StandingStill', 'Nudged', 'StandingStill', 'HandedOver', 'StandingStill']);
  expect(outcome.notes?.[0]?.message).toBe('the turn was called off: the same call 20 times in a row, and no file has changed');
  const prompts = lab.transcript().filter(({ type }) => type === 'prompt');
  expect(prompts.map(({ text }) => text.split('\n')[0])).toEqual([
    'do this',
    expect.stringMatching(/^Your last turns did the same/),
    'do this',
  ]);
  const ending = await lab.start({ text: script({ op: 'again', step, crashes: true }) }).ended;
  expect(ending.outcome.notes?.map(({ reason }) => reason)).toEqual(['StandingStill', 'HandedOver', 'StandingStill']);
  expect([ending.outcome.error?.code, agentsAlive()]).toEqual(['NoProgress', []]);
});

it('lets a turn go on that calls the same again and again while files change', async () => {
  const step = { op: 'run', command: 'echo x >> grown' };
  const { outcome } = await lab.start({ text: script(...Array.from({ length: 45 }, () => step)) }).ended;
  expect([outcome.error, outcome.notes, outcome.evidence.toolCalls]).toEqual([undefined, undefined, 45]);
});

it('goes on with the session of an attempt that was cut off', async () => {
  const first = lab.start({ text: script({ op: 'write', path: 'cut', content: '' }, { op: 'hang' }) });
  await vi.waitFor(() => expect(existsSync(inWorkspace('cut'))).toBe(true), soon);
  const session = readFileSync(join(lab.folder, 'session'), 'utf8');
  first.child.kill('SIGTERM');
  await first.ended;
  const { outcome } = await lab.start({ text: script({ op: 'write', path: 'whole', content: '' }), lastSession: session }).ended;
  expect([outcome.error, outcome.sessionId]).toEqual([undefined, session]);
  expect(lab.transcript()[0]?.text).toMatch(/^You were cut off. Go on where you stopped/);
  const unknown = await lab.start({ text: script({ op: 'write', path: 'new', content: '' }), lastSession: 'nobody-knows-it' }).ended;
  expect([unknown.outcome.error, unknown.outcome.sessionId === 'nobody-knows-it']).toEqual([undefined, false]);
});
