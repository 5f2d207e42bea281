/** Workspaces of real agents as an MCP client reaches them: commands, background jobs, files, and everything that must not be reached. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { workspaceTools } from '#mcp/workspace-tools.ts';
import { QUOTED } from '#protocol/tool-surface.ts';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';
import { issueToken, readKubeconfig } from '../support/daemon.ts';
import { answerOf, httpTransport, mcpClient, socketTransport } from '../support/mcp-client.ts';

/** For what takes from the rate of its user. */
const SELDOM = { ...WAIT, interval: 1_000 };

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool, looked at by assertions
type Any = any;

interface Answer {
  readonly isError: boolean;
  readonly answer: Any;
}

const home = new AgentsHome();
const clients = new Map<string, Client>();
const tokens = new Map<string, string>();
/** Everything that any client was told. */
const told: string[] = [];

/** Rates are counted per user: each test is one of its own. */
const USERS = ['basics', 'signals', 'flood', 'jobs', 'files', 'tricks', 'many', 'box', 'boxed'];

beforeAll(async () => {
  for (const user of USERS) tokens.set(user, await issueToken(home.home, 'admin', user));
  tokens.set('viewer', await issueToken(home.home, 'viewer', 'viewer'));
  await home.start();
  await home.create('Team', 'run', { isolation: { driver: 'process' }, roles: [{ name: 'ann' }, { name: 'bob' }] });
  await home.ready(['run-ann', 'run-bob']);
});

afterAll(async () => {
  for (const client of clients.values()) await client.close();
  await home.close();
});

async function clientOf(user: string): Promise<Client> {
  const open = clients.get(user);
  if (open) return open;
  const server = readKubeconfig(home.kubeconfig);
  const client = await mcpClient(user === 'local' ? socketTransport(home.home) : httpTransport(server, tokens.get(user)));
  clients.set(user, client);
  return client;
}

function as(user: string, target: object) {
  return async (name: string, input: object = {}, options: Parameters<Client['callTool']>[2] = {}): Promise<Answer> => {
    const client = await clientOf(user);
    const result = await client.callTool({ name: `workspace_${name}`, arguments: { ...target, ...input } }, undefined, options);
    told.push(JSON.stringify(result));
    const answer = answerOf(result);
    return { isError: result.isError === true, answer: answer['error'] ?? answer };
  };
}

/** Where the files of a plain process really are. */
async function folderOf(agent: string): Promise<string> {
  const { metadata } = await home.agent(agent);
  return join(home.home, 'state', 'workspaces', 'process', metadata.uid, 'workspace');
}

/** Which of the processes, as the workspace knows them, still run. */
const livingOf = (file: string) => `for p in $(cat ${file}); do grep -s State /proc/$p/status | grep -v Z; done; echo end`;

function reaches(user: string, target: { team: string; agent: string }): void {
  const call = as(user, target);

  it('runs commands and gives output, exit code, and what was written by others as such', async () => {
    const client = await clientOf(user);
    const result = (await client.callTool({
      name: 'workspace_exec',
      arguments: { ...target, command: 'echo "$A" out; echo err >&2; exit 3', env: { A: 'one' } },
    })) as Any;
    expect(result.content[0].text).toBe(QUOTED);
    expect(result.structuredContent).toEqual({
      exit_code: 3,
      stdout: 'one out\n',
      stderr: 'err\n',
      stdout_truncated: false,
      stderr_truncated: false,
      timed_out: false,
      elapsed_ms: expect.any(Number),
    });
    expect((await call('exec', { argv: ['printf', '%s', '$HOME *'] })).answer).toMatchObject({ exit_code: 0, stdout: '$HOME *' });
  });

  it('ends a command that is over its time, with all it has started', async () => {
    const { answer } = await call('exec', { command: '(sleep 1000; true) & echo $$ $! > pids; echo begun; wait', timeout_seconds: 1 });
    expect(answer).toMatchObject({ exit_code: -1, timed_out: true, stdout: 'begun\n' });
    expect((await call('exec', { command: `wc -w < pids; ${livingOf('pids')}` })).answer.stdout).toMatch(/^\s*2\nend\n$/);
  });

  it('keeps to the workspace', async () => {
    await call('exec', { command: 'mkdir -p sub; ln -sfn /etc out; ln -sf /etc/passwd out-file' });
    for (const path of ['..', '../x', '/etc/passwd', 'out/passwd', 'out-file', 'sub/../../x', '/workspace/../x', '/proc/self/environ']) {
      const { isError, answer } = await call('file_read', { path });
      expect([isError, answer.code, answer.message, answer.hint], path).toEqual([
        true,
        'Forbidden',
        `${path} is outside the workspace`,
        expect.stringContaining('below the root of the workspace'),
      ]);
    }
    const reaching: readonly [string, object][] = [
      ['file_write', { path: 'out/agentiso-test', content: 'x' }],
      ['file_edit', { path: 'out-file', old_text: 'root', new_text: 'x' }],
      ['file_list', { path: 'out' }],
      ['exec_start', { command: 'true', cwd: '..' }],
    ];
    for (const [tool, input] of reaching) expect((await call(tool, input)).answer.code, tool).toBe('Forbidden');
    for (const cwd of ['..', 'out', 'missing']) {
      const { answer } = await call('exec', { command: 'echo ran', cwd });
      expect([answer.exit_code, answer.stdout]).toEqual([-1, '']);
      expect(answer.stderr).toMatch(/^exec failed: (?:\.\.|out|missing) (?:is outside the workspace|does not exist)\n$/);
    }
  });
}

describe('a workspace of a plain process', () => reaches('basics', { team: 'run', agent: 'ann' }));

withSandboxes('a workspace of a sandbox', () => {
  beforeAll(async () => {
    await home.create('Team', 'box', { isolation: { driver: 'sandbox' }, roles: [{ name: 'one' }] });
    await home.ready(['box-one']);
  });
  reaches('box', { team: 'box', agent: 'one' });

  it('has files and jobs as well', async () => {
    const call = as('boxed', { team: 'box', agent: 'one' });
    expect((await call('file_write', { path: '/workspace/a/b.sh', content: 'echo hi', mode: '750' })).answer).toEqual({ bytes: 7 });
    expect((await call('file_list', { path: 'a' })).answer.entries).toMatchObject([{ name: 'b.sh', permissions: '750', size: 7 }]);
    expect((await call('exec_start', { argv: ['./a/none.sh'] })).answer).toMatchObject({
      code: 'Invalid',
      message: expect.stringContaining('./a/none.sh: not found'),
    });
    const started = (await call('exec_start', { command: 'sh a/b.sh; sleep 1000' })).answer;
    await vi.waitFor(async () => expect((await call('exec_poll', started)).answer.stdout).toBe('hi\n'), SELDOM);
    expect((await call('exec_kill', started)).answer).toEqual({ running: false, exit_code: 137 });
  });
});

describe('commands', () => {
  it.each([
    { how: 'takes its call back', file: 'cancelled', end: (leaving: AbortController) => leaving.abort(new Error('enough')) },
    { how: 'hangs up', file: 'left', end: () => clients.get('local')?.close() },
  ])('end when the client $how', async ({ file, end }) => {
    const target = { team: 'run', agent: 'bob' };
    const leaving = new AbortController();
    const command = `sleep 1000 & echo $$ $! > ${file}; wait`;
    const running = as('local', target)('exec', { command, timeout_seconds: 600 }, { signal: leaving.signal });
    running.catch(() => {});
    const pids = join(await folderOf('run-bob'), file);
    await vi.waitFor(() => expect(readFileSync(pids, 'utf8')).toMatch(/\n$/), WAIT);
    expect((await as('signals', target)('exec', { command: livingOf(file) })).answer.stdout.match(/State/g)).toHaveLength(2);
    await end(leaving);
    await expect(running).rejects.toThrow();
    const ended = async () => expect((await as('signals', target)('exec', { command: livingOf(file) })).answer.stdout).toBe('end\n');
    await vi.waitFor(ended, SELDOM);
    clients.delete('local');
  });

  it('may write 10 MiB to both streams, of which the answer shows whole characters of the beginning', async () => {
    const call = as('flood', { team: 'run', agent: 'bob' });
    const flood = 'yes "€€" | head -c 10485760';
    const { answer } = await call('exec', { command: `${flood} & ${flood} >&2; wait; exit 6`, max_output_bytes: 1000 });
    expect(answer).toMatchObject({ exit_code: 6, stdout_truncated: true, stderr_truncated: true });
    // 142 lines of seven bytes are 994; one more character fits, and of the next only half.
    const shown = `${'€€\n'.repeat(142)}€€\n[TRUNCATED: 10485760 bytes total, showing first 1000 bytes]`;
    expect([answer.stdout, answer.stderr]).toEqual([shown, shown]);
    const cut = (await call('exec', { command: flood, max_output_bytes: 999 })).answer.stdout;
    expect(cut).toBe(`${'€€\n'.repeat(142)}€\n[TRUNCATED: 10485760 bytes total, showing first 997 bytes]`);
  });

  it('may take variables, but not those that change which code runs, and then none', async () => {
    const call = as('many', { team: 'run', agent: 'ann' });
    expect((await call('set_env', { env: { ONE: '1', TWO: '2' } })).answer).toEqual({ names: ['ONE', 'TWO'] });
    for (const name of ['PATH', 'LD_PRELOAD', 'BASH_ENV']) {
      const { isError, answer } = await call('set_env', { env: { ONE: 'changed', THREE: '3', [name]: 'x' } });
      expect([isError, answer.code, answer.message, answer.hint]).toEqual([
        true,
        'Forbidden',
        `environment variable ${name} may not be set`,
        'leave that name out: nothing was set',
      ]);
    }
    expect((await call('exec', { command: 'echo "[$ONE$TWO$THREE]"' })).answer.stdout).toBe('[12]\n');
    const refused = (await call('exec', { command: 'echo ran > ran', env: { GOOD: '1', LD_PRELOAD: 'x' } })).answer;
    expect(refused).toMatchObject({ exit_code: -1, stderr: 'exec failed: environment variable LD_PRELOAD may not be set\n' });
    expect((await call('exec', { command: 'test -e ran' })).answer.exit_code).toBe(1);
  });

  it('run in many workspaces, each with a result of its own', async () => {
    const call = as('many', { team: 'run' });
    const messages: (string | undefined)[] = [];
    const onprogress = ({ message }: { message?: string | undefined }) => void messages.push(message);
    const { answer } = await call(
      'exec_parallel',
      { command: 'test -n "$TWO" && echo yes', agents: ['ann', 'bob', 'nobody'] },
      { onprogress },
    );
    expect(answer.results).toMatchObject([
      { agent: 'ann', exit_code: 0, stdout: 'yes\n' },
      { agent: 'bob', exit_code: 1, stdout: '' },
      { agent: 'nobody', error: { code: 'NotFound', message: 'team run has no agent nobody' } },
    ]);
    expect(answer.summary).toMatchObject({ total: 3, succeeded: 1, failed: 2, timed_out: 0 });
    expect(messages).toContain('ann: succeeded');
    expect((await call('exec_parallel', { command: 'true' })).answer.summary).toMatchObject({ total: 2, succeeded: 2 });
  });
});

describe('a background job', () => {
  it('is started, read while it runs, ended, and still there afterwards', async () => {
    const call = as('jobs', { team: 'run', agent: 'ann' });
    const { job_id } = (await call('exec_start', { command: 'echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 5' })).answer;
    const first = await vi.waitFor(async () => {
      const { answer } = await call('exec_poll', { job_id });
      expect(answer).toEqual({ running: true, stdout: 'one\n', stderr: '', stdout_offset: 4, stderr_offset: 0 });
      return answer;
    }, SELDOM);
    await call('file_write', { path: 'go', content: '' });
    await vi.waitFor(async () => {
      const { answer } = await call('exec_poll', { job_id, stdout_offset: first.stdout_offset });
      expect(answer).toMatchObject({ running: false, exit_code: 5, stdout: 'two\n' });
    }, SELDOM);
    expect((await call('exec_kill', { job_id })).answer).toEqual({ running: false, exit_code: 5 });
    const { answer } = await call('exec_kill', { job_id: 4711 });
    expect(answer).toMatchObject({ code: 'NotFound', hint: expect.stringContaining('workspace_exec_start') });
  });
});

describe('files', () => {
  it('are written, read by lines or bytes, edited and listed', async () => {
    const call = as('files', { team: 'run', agent: 'ann' });
    expect((await call('file_write', { path: 'src/deep/run.sh', content: 'one\ntwo\ntwo\n', mode: '0711' })).answer).toEqual({ bytes: 12 });
    expect((await call('file_edit', { path: 'src/deep/run.sh', old_text: 'two', new_text: '€ $& 2' })).answer).toEqual({ matches: 2 });
    expect((await call('file_read', { path: 'src/deep/run.sh', offset: 1, limit: 1 })).answer).toEqual({
      content: '€ $& 2\n',
      encoding: 'utf-8',
      total: 3,
      next_offset: 2,
    });
    const folder = join(await folderOf('run-ann'), 'src', 'deep');
    expect(readFileSync(join(folder, 'run.sh'), 'utf8')).toBe('one\n€ $& 2\ntwo\n');
    expect(statSync(join(folder, 'run.sh')).mode & 0o777).toBe(0o711);
    const bytes = Buffer.from([0, 1, 2, 255]);
    await call('file_write', { path: 'src/deep/data', content: bytes.toString('base64'), encoding: 'base64' });
    expect((await call('file_read', { path: 'src/deep/data' })).answer).toEqual({ content: 'AAEC/w==', encoding: 'base64', total: 4 });
    expect((await call('file_list', { path: 'src/deep' })).answer).toMatchObject({
      entries: [
        { name: 'data', kind: 'file', size: 4, permissions: '644' },
        { name: 'run.sh', kind: 'file', permissions: '711' },
      ],
      total: 2,
    });
    // No piece of a write that is not finished.
    expect(readdirSync(folder).sort()).toEqual(['data', 'run.sh']);
    const missing = (await call('file_edit', { path: 'src/deep/run.sh', old_text: 'three', new_text: '3' })).answer;
    expect(missing).toMatchObject({ code: 'NotFound', hint: expect.stringContaining('workspace_file_read') });
    expect((await call('file_edit', { path: 'src/deep/data', old_text: 'a', new_text: 'b' })).answer.code).toBe('Invalid');
    expect((await call('file_read', { path: 'none' })).answer).toMatchObject({ code: 'NotFound', message: 'none does not exist' });
  });

  it('may have 32 MiB, carried in pieces', async () => {
    const call = as('tricks', { team: 'run', agent: 'bob' });
    await call('exec', { command: 'head -c 33554432 /dev/zero | tr "\\0" "\\n" > big; cp big bigger; echo >> bigger' });
    const { answer } = await call('file_read', { path: 'big', offset: 33_554_430 });
    expect(answer).toEqual({ content: '\n\n', encoding: 'utf-8', total: 33_554_432 });
    expect((await call('file_read', { path: 'bigger' })).answer).toMatchObject({
      code: 'TooLarge',
      hint: expect.stringContaining('base64'),
    });
    const end = (await call('file_read', { path: 'bigger', encoding: 'base64', offset: 33_554_432 })).answer;
    expect(end).toEqual({ content: 'Cg==', encoding: 'base64', total: 33_554_433 });
  });
});

describe('what is refused', () => {
  it('is everything here to a viewer, who is not even offered it', async () => {
    const client = await clientOf('viewer');
    const offered = (await client.listTools()).tools.map(({ name }) => name);
    expect(workspaceTools.map(({ name }) => name).filter((name) => offered.includes(name))).toEqual([]);
    const call = as('viewer', { team: 'run', agent: 'ann' });
    for (const [tool, input] of [
      ['exec', { command: 'touch viewed' }],
      ['file_read', { path: 'go' }],
      ['logs', {}],
    ] as const) {
      expect((await call(tool, input)).answer.code, tool).toBe('Forbidden');
    }
    expect((await as('jobs', { team: 'run', agent: 'ann' })('exec', { command: 'test -e viewed' })).answer.exit_code).toBe(1);
  });

  it('is an agent that is not there or does not run, with what to do next', async () => {
    const call = as('tricks', { team: 'run', agent: 'bob' });
    expect((await call('logs', { agent: 'bop' })).answer).toMatchObject({ code: 'NotFound', hint: 'there is ann, bob' });
    await home.change('agents', 'run-bob', { desiredState: 'Stopped' });
    await vi.waitFor(async () => expect((await home.agent('run-bob')).status?.phase).toBe('Stopped'), WAIT);
    expect((await call('exec', { command: 'true' })).answer).toMatchObject({
      code: 'Unavailable',
      message: 'agent run-bob cannot be reached: it is Stopped',
      hint: expect.stringContaining('Running'),
    });
  });

  it('is to tell where on this machine anything lies', async () => {
    const call = as('local', { team: 'run', agent: 'ann' });
    await home.create('Task', 'run-say', { team: 'run', assignTo: 'ann', command: 'echo said by a task' });
    await home.reached('run-say', 'Succeeded');
    const { log, truncated } = (await call('logs', { tail_lines: 50, source: 'task' })).answer;
    expect([log, truncated]).toEqual([expect.stringContaining('said by a task'), false]);
    await call('logs', { since_seconds: 3600 });
    expect(told.length).toBeGreaterThan(30);
    expect(told.filter((text) => text.includes(home.folder))).toEqual([]);
  });
});
