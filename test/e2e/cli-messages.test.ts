/** What people say to teams and decide about their work, from the command line to the agent and back, with a daemon of its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CliRun, runCli, startCli } from '../support/cli.ts';
import { processesMentioning } from '../support/processes.ts';

const TEAM = `apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata: {name: sprint}
spec:
  isolation: {driver: process}
  roles: [{name: lead}, {name: dev, count: 2}]
  tasks:
    - {name: listed, command: "test -e ../mended || exit 3", assignTo: dev-1, maxAttempts: 1}
    - {name: after, command: "echo after", dependsOn: [listed], assignTo: dev-1}
---
apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata: {name: flat}
spec:
  isolation: {driver: process}
  roles: [{name: dev}]
`;
const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'agentiso.js');

let folder: string;
let serve: CliRun;
const placed = () => ({ cwd: folder, env: { TMPDIR: folder, AGENTISO_HOME: undefined } });
const run = (...args: string[]) => runCli(args, placed());

async function ok(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect({ args, code, stderr: code === 0 ? '' : stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

/** In the workspace of an agent of the team sprint. */
const team = (agent: string, ...words: string[]) => ok('exec', `sprint-${agent}`, '--', 'team', ...words);

interface Filed {
  readonly state: string;
  readonly inbox: string;
  readonly message: { readonly message_id: string; readonly content: string; readonly reply_to?: string; readonly from: string };
}

const filed = async (...args: string[]): Promise<readonly Filed[]> => JSON.parse(await ok(...args, '-o', 'json')).items;
const idOf = (sent: string) => sent.split(' ')[0] ?? '';
const waitFor = (name: string, jsonpath: string) => ok('wait', name, `--for=jsonpath=${jsonpath}`, '--timeout=60s');

async function until<T>(look: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const value = await look();
    if (isDone(value) || Date.now() > deadline) return value;
  }
}

async function startDaemon(): Promise<void> {
  serve = startCli(['serve'], placed());
  await serve.said('agentiso ready');
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-test-'));
  writeFileSync(join(folder, 'team.yaml'), TEAM);
  await startDaemon();
  await ok('apply', '-f', 'team.yaml');
  await ok('wait', 'team', '--all', '--for=condition=Ready', '--timeout=60s');
}, 120_000);

afterAll(async () => {
  serve.child.kill('SIGTERM');
  await serve.result;
  expect(processesMentioning(folder)).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

describe('agentiso message', () => {
  it('is on disk when it ends, then with the agent, then seen by it', async () => {
    const sent = await ok('message', 'sprint/dev-1', 'look', 'at', 'this');
    expect(sent).toMatch(/^[0-9a-f-]{36} Accepted for dev-1\n$/);
    const read = await team('dev-1', 'inbox');
    expect(read).toContain('look at this');
    const mine = (items: readonly Filed[]) => items.find(({ message }) => message.message_id === idOf(sent));
    const items = await until(
      () => filed('messages', 'sprint/dev-1'),
      (all) => mine(all)?.state === 'Seen',
    );
    expect(mine(items)).toMatchObject({ state: 'Seen', inbox: 'sprint/dev-1', message: { from: 'orchestrator', content: 'look at this' } });
  });

  it('goes to the lead when only the team is named, and to everybody for a star', async () => {
    expect(await ok('message', 'sprint', 'for the lead')).toMatch(/ Accepted for lead\n$/);
    expect(await team('lead', 'wait', '--from', 'orchestrator', '--ack', '--text')).toBe('for the lead\n');
    const lines = (await ok('message', 'sprint/*', 'for all')).trim().split('\n');
    expect(lines.map((line) => line.split(' ').at(-1)).sort()).toEqual(['dev-1', 'dev-2', 'lead']);
    for (const agent of ['dev-1', 'dev-2', 'lead'])
      expect(await team(agent, 'wait', '--type', 'broadcast', '--ack', '--text')).toBe('for all\n');
  });

  it('reads the text from standard input', async () => {
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, 'message', 'sprint/dev-2', '-'], {
      ...placed(),
      env: { ...process.env, ...placed().env },
      input: 'line one\nline two\n',
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, expect.stringContaining('Accepted for dev-2')]);
    expect(await team('dev-2', 'wait', '--ack', '--text')).toContain('line one\nline two\n');
  });

  it.each([
    { args: ['sprnt/dev-1', 'x'], code: 1, want: 'there is no team sprnt in the namespace default; did you mean sprint?' },
    { args: ['sprint/dve-1', 'x'], code: 1, want: 'there is no agent dve-1 in team sprint; did you mean sprint/dev-1?' },
    { args: ['sprint-dev-1', 'x'], code: 1, want: 'did you mean the agent sprint/dev-1?' },
    {
      args: ['flat', 'x'],
      code: 1,
      want: "team flat has no agent lead, so this would come back to you\n  write to one of flat/dev, or to everybody: 'flat/*'",
    },
    { args: ['sprint/dev-1', '--reply-to', 'nothing', 'x'], code: 1, want: 'nothing' },
    { args: ['sprint/dev-1', '--type', 'task_assignment', 'x'], code: 2, want: 'Allowed choices are text' },
    { args: ['sprint/dev-1', ' '], code: 2, want: 'the message is empty' },
    { args: ['a/b/c', 'x'], code: 2, want: 'is no address' },
    { args: ['sprint'], code: 2, want: "missing required argument 'text'" },
  ])('refuses $args in one clear line', async ({ args, code, want }) => {
    const result = await run('message', ...args);
    expect([result.code, result.stdout]).toEqual([code, '']);
    expect(result.stderr).toContain(want);
    expect(result.stderr).not.toContain('    at ');
  });
});

describe('agentiso inbox', () => {
  it('shows what agents ask people, keeps it, says how to answer, and puts it away', async () => {
    await team('dev-2', 'send', 'orchestrator', 'Which database?', '--type', 'request');
    const shown = await run('inbox', 'sprint');
    expect(shown.stdout).toMatch(/^sprint\/dev-2 {2}\d\d:\d\d:\d\d {2}request {2}[0-9a-f-]{36}\n {2}Which database\?\n/);
    const [asked] = await filed('inbox', 'sprint');
    const id = asked?.message.message_id ?? '';
    expect(shown.stderr).toContain(`answer: agentiso message sprint/dev-2 --reply-to ${id} TEXT\nput away: agentiso inbox --ack ${id}\n`);
    await ok('message', 'sprint/dev-2', '--reply-to', id, '--type', 'response', 'The small one.');
    expect(await team('dev-2', 'wait', '--type', 'response', '--ack', '--text')).toBe('The small one.\n');
    expect(await filed('messages', 'sprint/dev-2')).toContainEqual(
      expect.objectContaining({ message: expect.objectContaining({ content: 'The small one.', reply_to: id }) }),
    );
    expect(await ok('inbox', '--ack', id.slice(0, 24))).toBe('1 put away\n');
    expect(await run('inbox')).toEqual({ code: 0, stdout: '', stderr: 'Nothing new for you in default namespace.\n' });
    expect(await ok('inbox', '--all')).toContain('seen');
    expect(await run('inbox', '--ack', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('agentiso inbox shows them') });
  });

  it('is pushed what comes, and ends with 130 on Ctrl-C', async () => {
    const following = startCli(['inbox', '-f'], placed());
    await team('dev-1', 'send', 'orchestrator', 'first');
    await following.said('first');
    await team('dev-1', 'send', 'orchestrator', 'second');
    await following.said('second');
    following.child.kill('SIGINT');
    const { code, stdout } = await following.result;
    expect(code).toBe(130);
    expect(stdout.match(/^ {2}(?:first|second)$/gm)).toEqual(['  first', '  second']);
    expect(await ok('inbox', '--ack', 'all')).toBe('2 put away\n');
  });

  it('is per team', async () => {
    expect(await run('inbox', 'sprint/dev-1')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('agentiso messages sprint/dev-1'),
    });
    expect(await run('inbox', 'sprnit')).toMatchObject({ code: 1, stderr: expect.stringContaining('did you mean sprint?') });
  });
});

describe('agentiso messages', () => {
  it('shows what was said as a table, also of one agent, and does not count as reading', async () => {
    await team('dev-1', 'send', 'dev-2', 'between us\nand more');
    const lines = (await ok('messages', 'sprint/dev-1')).split('\n');
    expect(lines[0]).toMatch(/^TIME +FROM +TO +TYPE +STATE +MESSAGE$/);
    expect(lines.filter((line) => line.includes('between us'))).toEqual([expect.stringMatching(/dev-1 +dev-2 +text +\w+ +between us …$/)]);
    expect(await team('dev-2', 'wait', '--from', 'dev-1', '--ack', '--text')).toBe('between us\nand more\n');
    expect(await run('messages', 'sprint/nobody')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is dev-1, dev-2, lead'),
    });
    expect(await run('messages', '--limit', '0')).toMatchObject({ code: 2 });
  });

  it('follows: every message once for people, every state for programs', async () => {
    await ok('message', 'sprint/dev-2', 'before');
    const [table, json] = [startCli(['messages', 'sprint', '-f'], placed()), startCli(['messages', '-f', '-o', 'json'], placed())];
    let heard = '';
    json.child.stdout?.on('data', (chunk: string) => {
      heard += chunk;
    });
    // What was there before is shown first: then they follow.
    for (const each of [table, json]) await each.said('before');
    const sent = idOf(await ok('message', 'sprint/dev-1', 'followed'));
    await team('dev-1', 'wait', '--ack', '--timeout', '60');
    await table.said('followed');
    const states = () => {
      const lines = heard.split('\n').slice(0, -1);
      return lines.map((line) => JSON.parse(line) as Filed).flatMap(({ message, state }) => (message.message_id === sent ? [state] : []));
    };
    await vi.waitFor(() => expect(states()).toEqual(['Accepted', 'Delivered', 'Seen']), { timeout: 60_000 });
    for (const each of [table, json]) each.child.kill('SIGINT');
    expect((await table.result).stdout.match(/followed/g)).toHaveLength(1);
    await json.result;
  });

  it('are in what describe says of an agent', async () => {
    await ok('message', 'sprint/dev-2', 'for the record');
    expect(await ok('describe', 'agent', 'sprint-dev-2')).toMatch(
      /\nMessages:\n +From +Type +State +Age +Message\n(?:.*\n)*.*for the record\n/,
    );
    await team('dev-2', 'inbox');
  });

  it('are all there after a restart of the daemon', async () => {
    await ok('message', 'sprint/dev-2', 'before the restart');
    serve.child.kill('SIGTERM');
    await serve.result;
    await startDaemon();
    await ok('wait', 'agent', '--all', '--for=condition=Ready', '--timeout=60s');
    const count = (await filed('messages', 'sprint', '--limit', '1000')).filter(
      ({ message }) => message.content === 'before the restart',
    ).length;
    expect(count).toBe(1);
    expect(await team('dev-2', 'inbox')).toContain('before the restart');
  });
});

describe('words about tasks', () => {
  it('retry tries one that a team lists again, and what waits for it goes on', async () => {
    await waitFor('task/sprint-listed', '{.status.phase}=Failed');
    expect(await run('retry', 'after')).toMatchObject({ code: 1, stderr: expect.stringContaining('retry that one') });
    const agent = (await ok('get', 'agent', 'sprint-dev-1', '-o', 'jsonpath={.metadata.uid}')).trim();
    expect(agent).not.toBe('');
    await ok('exec', 'sprint-dev-1', '--', 'touch', '../mended');
    expect(await ok('retry', 'listed')).toBe('task/sprint-listed is tried again\n');
    await waitFor('task/sprint-after', '{.status.phase}=Succeeded');
    expect(await run('retry', 'sprint-listed')).toMatchObject({ code: 1, stderr: expect.stringContaining('it has Succeeded') });
  });

  const apply = (name: string, spec: string) => {
    const file = `${name}.yaml`;
    writeFileSync(
      join(folder, file),
      `apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata: {name: sprint-${name}}\nspec: {team: sprint, ${spec}}\n`,
    );
    return ok('apply', '-f', file);
  };

  it('assign moves a running task, cancel gives it up, retry takes that back', async () => {
    await apply('long', 'command: "sleep 1000", assignTo: dev-1');
    await waitFor('task/sprint-long', '{.status.phase}=Running');
    expect(await run('assign', 'long', 'dve-2')).toMatchObject({ code: 1, stderr: expect.stringContaining('did you mean dev-2?') });
    expect(await ok('assign', 'long', 'sprint-dev-2')).toBe('task/sprint-long is for dev-2\n');
    await waitFor('task/sprint-long', '{.status.owner}=sprint-dev-2');
    await waitFor('task/sprint-long', '{.status.phase}=Running');
    expect(await ok('cancel', 'sprint/long')).toBe('task/sprint-long cancelled\n');
    await waitFor('task/sprint-long', '{.status.reason}=Cancelled');
    expect(await run('cancel', 'long')).toMatchObject({ code: 1, stderr: expect.stringContaining('it has already ended: Failed') });
    await ok('retry', 'long');
    await waitFor('task/sprint-long', '{.status.phase}=Running');
    await ok('cancel', 'long');
    expect(await run('cancel', 'lnog')).toMatchObject({ code: 1, stderr: expect.stringContaining('did you mean sprint-long?') });
  });

  it('a plan is refused with a reason and then approved, and the work starts', async () => {
    await apply('careful', 'command: "echo carefully done", planRequired: true, assignTo: dev-1');
    await waitFor('task/sprint-careful', '{.status.phase}=Claimed');
    expect(await run('approve', 'careful')).toMatchObject({ code: 1, stderr: expect.stringContaining('error: ') });
    expect(await run('refuse', 'careful')).toMatchObject({ code: 2, stderr: expect.stringContaining("'--feedback <text>' not specified") });
    await team('dev-1', 'plan', 'careful', 'all at once');
    expect(await ok('refuse', 'careful', '--feedback', 'in smaller steps')).toBe('refused: the plan of task/sprint-careful\n');
    await until(
      () => ok('exec', 'sprint-dev-1', '--', 'team', 'inbox'),
      (text) => text.includes('in smaller steps'),
    );
    await team('dev-1', 'plan', 'careful', 'step by step');
    expect(await ok('approve', 'careful')).toBe('approved: the plan of task/sprint-careful\n');
    await waitFor('task/sprint-careful', '{.status.phase}=Succeeded');
    expect(await ok('logs', 'task/careful')).toBe('carefully done\n');
  });
});

describe('words about agents', () => {
  it('stop ends one, start begins it again, and a typo leaves all as they are', async () => {
    expect(await run('stop', 'flat/dev', 'flat/nobody')).toMatchObject({ code: 1, stdout: '' });
    expect(await ok('stop', 'flat/dev')).toBe('agent/flat-dev stops\n');
    await waitFor('agent/flat-dev', '{.status.phase}=Stopped');
    expect(await ok('start', 'agent/flat-dev')).toBe('agent/flat-dev starts\n');
    await ok('wait', 'agent/flat-dev', '--for=condition=Ready', '--timeout=60s');
  });

  it('a wrong name in logs and exec is answered with the right one', async () => {
    for (const args of [
      ['logs', 'dev-1'],
      ['exec', 'sprint-dve-1', '--', 'true'],
      ['attach', 'dev-1'],
    ]) {
      expect(await run(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining('not found; did you mean sprint-dev-1?') });
    }
  });

  it('an agent that ends under a command is said to have ended', async () => {
    const command = startCli(['exec', 'flat-dev', '--', 'sh', '-c', 'echo begun; sleep 1000'], placed());
    await command.said('begun');
    await ok('stop', 'flat-dev');
    expect(await command.result).toMatchObject({ stderr: expect.not.stringContaining('hung up') });
  });
});
