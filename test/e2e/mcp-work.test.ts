/** Work as an operator's MCP client gives it to a real team: workflows, tasks, plans, messages and merges, and what came of them on disk. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Daemon, issueToken, startDaemon, temporaryFolder } from '../support/daemon.ts';
import { answerOf, httpTransport, mcpClient, socketTransport } from '../support/mcp-client.ts';
import { gitIn, makeSource } from '../support/work.ts';

const LINES = Array.from({ length: 11 }, (_, index) => `line ${index + 1}`);
const TEAM = (source: string) => ({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Team',
  metadata: { name: 'shop', namespace: 'default' },
  spec: { isolation: { driver: 'process' }, roles: [{ name: 'dev', count: 2 }], repo: { path: source } },
});

const { folder, remove } = temporaryFolder();
const [home, source] = [join(folder, 'home'), join(folder, 'source')];
let daemon: Daemon;
let client: Client;
/** Another user: rates are counted for each. */
let planner: Client;

beforeAll(async () => {
  makeSource(source, { 'a.txt': LINES.join('\n') });
  const token = await issueToken(home, 'admin', 'pat');
  daemon = await startDaemon(home);
  client = await mcpClient(socketTransport(home));
  planner = await mcpClient(httpTransport(daemon.server, token));
  // So that both check every answer against its schema.
  await Promise.all([client.listTools(), planner.listTools()]);
  await ok('apply', { manifest: JSON.stringify(TEAM(source)) });
  await ok('wait_for', { kind: 'Team', name: 'shop', condition: 'Ready', timeout_seconds: 60 });
}, 120_000);

afterAll(async () => {
  await client?.close();
  await planner?.close();
  await daemon?.stop();
  remove();
}, 60_000);

interface Asking {
  readonly as?: Client;
  readonly onProgress?: (message: string) => void;
}

async function ok(name: string, input: Record<string, unknown>, { as = client, onProgress }: Asking = {}) {
  const options = { timeout: 100_000, ...(onProgress && { onprogress: ({ message = '' }) => onProgress(message) }) };
  const result = await as.callTool({ name, arguments: input }, undefined, options);
  expect({ name, error: result.isError ? answerOf(result) : undefined }).toEqual({ name, error: undefined });
  return result.structuredContent as Record<string, unknown>;
}

const run = (command: string, more: object = {}) =>
  ok('assign_task', { team: 'shop', title: 'Run', command, wait: true, timeout_seconds: 60, max_attempts: 1, ...more });
const inside = (agent: string, command: string) => ok('workspace_exec', { team: 'shop', agent, command });

describe('a workflow', () => {
  it('hands exact outputs on as data, skips what depends on a failure and lets the rest go on', async () => {
    const said = '$(touch evil) `touch evil` "quotes" \'and\' ünï\n';
    const steps = [
      { name: 'make', agent: 'dev-1', command: `cat <<'END'\n${said}END` },
      { name: 'use', agent: 'dev-2', command: 'printf %s "$AGENTISO_INPUT"; ls evil', depends_on: ['make'], max_attempts: 1 },
      { name: 'bad', agent: 'dev', command: 'exit 3', max_attempts: 1 },
      { name: 'after', agent: 'dev', command: 'touch never', depends_on: ['bad'] },
      { name: 'last', agent: 'dev', command: 'touch never', depends_on: ['after', 'make'] },
      { name: 'free', agent: 'dev', command: 'echo free', depends_on: ['make'] },
    ];
    const { workflow_id } = await ok('create_workflow', { name: 'flow', team: 'shop', steps });
    const { state } = await ok('workflow_status', { workflow_id, wait_seconds: 60 });
    const words = (state as { steps: { step: string; status: string }[] }).steps.map(({ step, status }) => `${step} ${status}`);
    expect(words.sort()).toEqual(['after skipped', 'bad failed', 'free completed', 'last skipped', 'make completed', 'use failed']);
    const used = await ok('get_task_result', { task_id: 'shop-flow-use' });
    // Failed, for there is no file evil to list.
    expect(used).toMatchObject({ output: `--- Output from "make" ---\n${said}\n--- End ---\n`, exit_code: 2 });
  });
});

describe('assign_task', () => {
  it('waits for the result, whose source is the assignment in the journal of the agent', async () => {
    const progress: string[] = [];
    const done = await ok(
      'assign_task',
      { team: 'shop', title: 'x', command: 'printf "a\\nb"; echo c >&2; exit 0', agent: 'dev-1', wait: true },
      { onProgress: (message) => progress.push(message) },
    );
    expect(done).toMatchObject({ task_id: expect.stringMatching(/^shop-task-\d{3}$/), status: 'completed', output: 'a\nb', error: 'c\n' });
    expect(progress.join('\n')).toContain(`task ${done['task_id']}:`);
    const agent = await ok('get', { kind: 'Agent', name: 'shop-dev-1' });
    const { uid } = (agent['object'] as { metadata: { uid: string } }).metadata;
    const journal = readFileSync(join(home, 'state', 'mail', `${uid}.jsonl`), 'utf8');
    const line = journal.split('\n').find((each) => each.includes(String(done['source_message_id'])));
    expect(line).toContain('task_assignment');
    expect(line).toContain(String(done['task_id']));
  });

  it('goes on after its wait is over, and can be given up', async () => {
    const over = await run('sleep 600', { timeout_seconds: 1, name: 'long' });
    expect(over).toMatchObject({ task_id: 'shop-long', timed_out: true });
    await ok('cancel_task', { task_id: 'shop-long' });
    await ok('wait_for', { kind: 'Task', name: 'shop-long', phase: 'Failed', timeout_seconds: 60 });
    expect(await ok('get_task_result', { task_id: 'shop-long' })).toMatchObject({ status: 'failed', reason: 'Cancelled' });
  });
});

describe('messages', () => {
  it('go to an agent, and its answer comes to whoever waits', async () => {
    const sent = await ok('team_message', { team: 'shop', to: 'dev-2', content: 'which database?', message_type: 'request' });
    const waiting = ok('team_receive', { team: 'shop', wait_seconds: 60 });
    expect((await inside('dev-2', 'team wait --type request --ack --text && team send lead "the small one"'))['stdout']).toContain(
      'which database?',
    );
    const { messages } = await waiting;
    expect(messages).toMatchObject([{ from: 'dev-2', content: 'the small one', state: 'Accepted' }]);
    const [{ message_id } = { message_id: '' }] = messages as { message_id: string }[];
    expect(sent['message_id']).not.toBe(message_id);
    expect((await ok('team_receive', { team: 'shop', ack: [message_id] }))['messages']).toEqual([]);
  });
});

describe('a plan', () => {
  const decide: typeof ok = (name, input) => ok(name, input, { as: planner });
  let seen: string[] = [];
  const submitted = async (task: string, plan: string) => {
    await inside('dev-1', `team plan ${task} '${plan}'`);
    const { messages } = await decide('team_receive', { team: 'shop', wait_seconds: 60, ack: seen });
    const metadata = { from: 'dev-1', task };
    expect(messages).toMatchObject([{ message_type: 'plan_submission', metadata, content: expect.stringContaining(plan) }]);
    seen = (messages as { message_id: string }[]).map(({ message_id }) => message_id);
  };
  const planned = async (name: string) => {
    await decide('assign_task', { team: 'shop', title: name, command: `touch ${name}.done`, agent: 'dev-1', name, plan_required: true });
    await decide('wait_for', { kind: 'Task', name: `shop-${name}`, phase: 'Claimed', timeout_seconds: 60 });
  };

  it('lets the work start when it is approved, after a refusal too', async () => {
    await planned('good');
    await submitted('good', 'all at once');
    expect(await decide('approve_plan', { task: 'shop-good', approved: false, feedback: 'step by step' })).toMatchObject({
      status: 'refused',
    });
    expect((await inside('dev-1', 'ls *.done 2>/dev/null || echo none'))['stdout']).toBe('none\n');
    await submitted('good', 'step by step');
    expect(await decide('approve_plan', { task: 'good', team: 'shop', approved: true })).toMatchObject({ status: 'approved' });
    await decide('wait_for', { kind: 'Task', name: 'shop-good', phase: 'Succeeded', timeout_seconds: 60 });
    expect((await inside('dev-1', 'ls *.done; rm *.done'))['stdout']).toBe('good.done\n');
  });

  it('ends the task with the third refusal', async () => {
    await planned('worse');
    for (const status of ['refused', 'refused', 'failed']) {
      await submitted('worse', 'the same again');
      expect(await decide('approve_plan', { task: 'shop-worse', approved: false, feedback: 'no' })).toMatchObject({ status });
    }
    expect(await decide('get_task_result', { task_id: 'shop-worse' })).toMatchObject({ status: 'failed', reason: 'PlanRejected' });
  });
});

describe('workspace_merge', () => {
  const commit = (agent: string, edit: string) => run(`${edit} && git commit -qam '${agent}'`, { agent });

  it('lands what fits and reports what does not', async () => {
    await Promise.all([commit('dev-1', "sed -i '1s/.*/head/' a.txt"), commit('dev-2', "sed -i '11s/.*/last/' a.txt")]);
    const asked = { team: 'shop', sources: ['dev-1', 'dev-2'], target: { branch: 'main' }, wait: true };
    const merged = await ok('workspace_merge', asked);
    expect(merged).toMatchObject({
      success: true,
      phase: 'Merged',
      merged_sources: ['dev-1', 'dev-2'],
      conflicts: [],
      total_commits_applied: 2,
    });
    expect(merged['target_after']).toBe(gitIn(source, 'rev-parse', 'main'));
    expect(readFileSync(join(source, 'a.txt'), 'utf8')).toBe(['head', ...LINES.slice(1, 10), 'last'].join('\n'));
    await Promise.all([commit('dev-1', "sed -i '6s/.*/first/' a.txt"), commit('dev-2', "sed -i '6s/.*/second/' a.txt")]);
    const clash = await ok('workspace_merge', { ...asked, strategy: 'branch-per-source' });
    expect(clash).toMatchObject({
      success: false,
      phase: 'Conflicted',
      conflicts: [{ source: 'dev-2', files: [{ path: 'a.txt', kind: 'content' }] }],
    });
    expect(gitIn(source, 'rev-parse', 'main')).toBe(merged['target_after']);
  });
});
