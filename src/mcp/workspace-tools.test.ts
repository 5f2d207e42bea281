import { describe, expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { NotFoundError, UnavailableError } from '#lib/errors.ts';
import { toListed } from '#protocol/tool-surface.ts';
import type { Tool, ToolCall } from './tool.ts';
import type { WorkspaceIo } from './workspace-io.ts';
import { workspaceTools } from './workspace-tools.ts';

const AGENTS = ['sprint-coder-1', 'sprint-coder-2', 'scout'];
const RUN = { exitCode: 0, stdout: 'out', stderr: '', stdoutTruncated: false, stderrTruncated: false, timedOut: false, elapsedMs: 7 };

/** Where the API has three agents of the team sprint, and a workspace answers as a test says. */
function callOf(workspaces: Partial<WorkspaceIo>, role: 'admin' | 'viewer' = 'admin') {
  const said: unknown[] = [];
  const agent = (name: string) => ({ metadata: { name, namespace: 'default' }, spec: { team: 'sprint' } }) as unknown as Agent;
  const client = {
    async get({ name, namespace }: { name: string; namespace: string }) {
      if (namespace === 'default' && AGENTS.includes(name)) return agent(name);
      throw new NotFoundError(`agents "${name}" not found`);
    },
    async list(_kind: string, { namespace, fieldSelector }: { namespace: string; fieldSelector: string }) {
      return { items: namespace === 'default' && fieldSelector === 'spec.team=sprint' ? AGENTS.map(agent) : [] };
    },
  };
  const call = {
    caller: { user: 'x', role },
    client,
    workspaces,
    signal: new AbortController().signal,
    progress: (...words: unknown[]) => said.push(['progress', ...words]),
    charge: (count: number) => said.push(['charge', count]),
  } as unknown as ToolCall;
  return { call, said };
}

const named = (name: string) => workspaceTools.find((tool) => tool.name === name) as Tool<unknown, Record<string, unknown>>;

async function run(name: string, input: object, { call } = callOf({})): Promise<Record<string, unknown>> {
  const tool = named(name);
  const answer = await tool.run(tool.input({ team: 'sprint', agent: 'coder-1', ...input }, 'the input'), call);
  // An answer is what its schema promises.
  expect(tool.output(answer, 'the answer')).toEqual(answer);
  return answer;
}

/** Enough of an input for each tool. */
const INPUTS: Readonly<Record<string, object>> = {
  workspace_exec: { command: 'true' },
  workspace_exec_start: { command: 'true' },
  workspace_exec_poll: { job_id: 1 },
  workspace_exec_kill: { job_id: 1 },
  workspace_exec_parallel: { command: 'true' },
  workspace_set_env: { env: {} },
  workspace_logs: {},
  workspace_file_read: { path: 'x' },
  workspace_file_write: { path: 'x', content: '' },
  workspace_file_edit: { path: 'x', old_text: 'a', new_text: 'b' },
  workspace_file_list: {},
};

describe('every tool of workspaces', () => {
  it.each(workspaceTools.map((tool) => [tool.name, tool] as const))('%s is described, and for admins only', async (name, tool) => {
    const { inputSchema, outputSchema } = toListed(tool);
    expect([inputSchema['type'], outputSchema['type']]).toEqual(['object', 'object']);
    for (const [field, schema] of Object.entries(inputSchema['properties'] as Record<string, { description?: string }>)) {
      expect(schema.description, field).toMatch(/\.$/);
    }
    expect(tool.isReadOnly ? tool.needsAdmin : true).toBe(true);
    const viewer = callOf({}, 'viewer');
    await expect(run(name, INPUTS[name] ?? {}, viewer)).rejects.toMatchObject({ code: 'Forbidden' });
    const input = tool.input({ team: 'sprint', agent: 'sprint-coder-1', ...INPUTS[name] }, 'the input');
    expect(tool.resource?.(input)).toBe(name === 'workspace_exec_parallel' ? 'team/sprint' : 'agent/sprint-coder-1');
  });

  it('finds agents by their name in the team or by their own, and no others', async () => {
    const asked: string[] = [];
    const io = {
      async listFiles({ agent }: { agent: string }) {
        asked.push(agent);
        return [];
      },
    };
    for (const agent of ['coder-1', 'sprint-coder-2', 'scout']) await run('workspace_file_list', { agent }, callOf(io));
    expect(asked).toEqual(['sprint-coder-1', 'sprint-coder-2', 'scout']);
    await expect(run('workspace_file_list', { agent: 'codr' })).rejects.toMatchObject({
      code: 'NotFound',
      message: 'team sprint has no agent codr',
      hint: 'there is coder-1, coder-2, scout',
    });
    await expect(run('workspace_file_list', { team: 'other', agent: 'scout' })).rejects.toMatchObject({ code: 'NotFound' });
    await expect(run('workspace_file_list', { namespace: 'elsewhere' })).rejects.toMatchObject({ code: 'NotFound' });
    await expect(run('workspace_file_list', { agent: '../x' })).rejects.toMatchObject({ code: 'Invalid', details: { field: 'agent' } });
  });
});

describe('commands', () => {
  it('need either command or argv, of a size that can be run', async () => {
    for (const input of [{}, { command: 'a', argv: ['b'] }, { argv: [] }, { command: '' }]) {
      await expect(run('workspace_exec', input)).rejects.toMatchObject({ code: 'Invalid' });
    }
    await expect(run('workspace_exec', { command: 'x'.repeat(200_000) })).rejects.toMatchObject({
      code: 'TooLarge',
      details: { field: 'command', hint: expect.stringContaining('workspace_file_write') },
    });
    await expect(run('workspace_exec', { command: 'x', timeout_seconds: 3601 })).rejects.toMatchObject({ code: 'Invalid' });
  });

  it('are passed on with nothing but what was asked, and their limits', async () => {
    const asked: unknown[] = [];
    const io = {
      async exec(...[workspace, command, { timeoutMs, maxOutputBytes }]: Parameters<WorkspaceIo['exec']>) {
        asked.push([workspace.agent, command, timeoutMs, maxOutputBytes]);
        return RUN;
      },
    };
    expect(await run('workspace_exec', { command: 'make' }, callOf(io))).toEqual({
      exit_code: 0,
      stdout: 'out',
      stderr: '',
      stdout_truncated: false,
      stderr_truncated: false,
      timed_out: false,
      elapsed_ms: 7,
    });
    await run('workspace_exec', { argv: ['a'], cwd: 'b', env: { C: 'd' }, timeout_seconds: 5, max_output_bytes: 9 }, callOf(io));
    expect(asked).toEqual([
      ['sprint-coder-1', { command: 'make' }, 120_000, 262_144],
      ['sprint-coder-1', { argv: ['a'], cwd: 'b', env: { C: 'd' } }, 5_000, 9],
    ]);
  });

  it('may take their time before their deadline comes', () => {
    const deadline = (name: string, input: object) => (named(name).deadlineMs as (input: object) => number)(input);
    expect(deadline('workspace_exec', {})).toBeGreaterThan(125_000);
    expect(deadline('workspace_exec', { timeout_seconds: 3600 })).toBeGreaterThan(3_605_000);
    expect(deadline('workspace_exec_parallel', { agents: ['a', 'b', 'c'], max_parallel: 1, timeout_seconds: 10 })).toBeGreaterThan(45_000);
  });
});

describe('workspace_exec_parallel', () => {
  it('gives each agent a result, whatever happens to the others, and counts them', async () => {
    const io = {
      async exec({ agent }: { agent: string }) {
        if (agent === 'scout') throw new UnavailableError('agent scout cannot be reached', { hint: 'wait' });
        return agent === 'sprint-coder-1' ? RUN : { ...RUN, exitCode: -1, timedOut: true };
      },
    };
    const { call, said } = callOf(io);
    const { results, summary } = await run(
      'workspace_exec_parallel',
      { command: 'x', agents: ['scout', 'coder-1', 'nobody', 'coder-2', 'scout'] },
      { call, said },
    );
    expect(results).toEqual([
      { agent: 'scout', error: { code: 'Unavailable', message: 'agent scout cannot be reached', retryable: true, hint: 'wait' } },
      expect.objectContaining({ agent: 'coder-1', exit_code: 0 }),
      { agent: 'nobody', error: expect.objectContaining({ code: 'NotFound' }) },
      expect.objectContaining({ agent: 'coder-2', timed_out: true }),
    ]);
    expect(summary).toEqual({ total: 4, succeeded: 1, failed: 2, timed_out: 1, elapsed_ms: expect.any(Number) });
    expect(said).toContainEqual(['charge', 3]);
    expect(said).toContainEqual(['progress', 'coder-1: succeeded', { of: 4, count: expect.any(Number) }]);
  });

  it('reaches all agents of the team where none is named', async () => {
    const { results } = await run('workspace_exec_parallel', { command: 'x' }, callOf({ exec: async () => RUN }));
    expect((results as { agent: string }[]).map(({ agent }) => agent)).toEqual(['coder-1', 'coder-2', 'scout']);
    await expect(run('workspace_exec_parallel', { command: 'x', team: 'none' })).rejects.toMatchObject({ code: 'NotFound' });
  });
});

describe('files', () => {
  const fileOf = (content: Buffer) =>
    callOf({
      readFile: async (_workspace, { offset = 0, limit = content.length }) => ({
        content: content.subarray(offset, offset + limit),
        size: content.length,
      }),
    });

  it('are read as text by lines, and anything else as base64', async () => {
    const read = (content: Buffer, input = {}) => run('workspace_file_read', { path: 'x', ...input }, fileOf(content));
    expect(await read(Buffer.from('a\nb\nc\n'), { offset: 1, limit: 1 })).toEqual({
      content: 'b\n',
      encoding: 'utf-8',
      total: 3,
      next_offset: 2,
    });
    expect(await read(Buffer.from([1, 0, 255]))).toEqual({ content: 'AQD/', encoding: 'base64', total: 3 });
    expect(await read(Buffer.from('abc'), { encoding: 'base64', offset: 1, limit: 1 })).toEqual({
      content: 'Yg==',
      encoding: 'base64',
      total: 3,
      next_offset: 2,
    });
    await expect(read(Buffer.from([255]), { encoding: 'utf-8' })).rejects.toMatchObject({
      code: 'Invalid',
      hint: expect.stringContaining('base64'),
    });
  });

  it('are written from text or base64, and nothing else becomes a file', async () => {
    const written: unknown[] = [];
    const io = {
      async writeFile(...[, { content, ...file }]: Parameters<WorkspaceIo['writeFile']>) {
        written.push({ ...file, text: String(content) });
      },
    };
    const write = (input: object) => run('workspace_file_write', { path: 'x', ...input }, callOf(io));
    expect(await write({ content: '€', mode: '0755' })).toEqual({ bytes: 3 });
    expect(await write({ content: 'YWI=\nYw', encoding: 'base64', append: true }).catch((error) => error.code)).toBe('Invalid');
    expect(await write({ content: 'YWJj\nZA==', encoding: 'base64', append: true })).toEqual({ bytes: 4 });
    for (const content of ['?', 'a', 'YQ=', 'YQ===', '=YQ']) {
      await expect(write({ content, encoding: 'base64' }), content).rejects.toMatchObject({
        code: 'Invalid',
        details: { field: 'content' },
      });
    }
    for (const mode of ['888', '7', '07777', 'rwx']) {
      await expect(write({ content: '', mode })).rejects.toMatchObject({ details: { field: 'mode' } });
    }
    expect(written).toEqual([
      { path: 'x', mode: 0o755, text: '€' },
      { path: 'x', append: true, text: 'abcd' },
    ]);
  });

  it('are listed in parts', async () => {
    const file = { kind: 'file', size: 1, permissions: '644', modified: 'now' } as const;
    const files = ['a', 'b', 'c'].map((name) => ({ name, ...file }));
    const list = (input: object) => run('workspace_file_list', input, callOf({ listFiles: async () => files }));
    expect(await list({ limit: 2 })).toEqual({ entries: files.slice(0, 2), total: 3, next_offset: 2 });
    expect(await list({ offset: 2 })).toEqual({ entries: files.slice(2), total: 3 });
  });
});
