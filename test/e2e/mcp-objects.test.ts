/** The life of a team as an operator's MCP client leads it, on a real daemon with real agents: made, changed, stopped, killed, destroyed. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Daemon, issueToken, startDaemon, temporaryFolder } from '../support/daemon.ts';
import { answerOf, httpTransport, mcpClient, socketTransport } from '../support/mcp-client.ts';
import { isPidAlive } from '../support/pid.ts';
import { processesMentioning } from '../support/processes.ts';
import { makeSource } from '../support/work.ts';

type Fields = Record<string, unknown>;

const { folder, remove } = temporaryFolder();
const [home, source] = [join(folder, 'home'), join(folder, 'source')];
let daemon: Daemon;
let client: Client;
let viewer: Client;

beforeAll(async () => {
  mkdirSync(home);
  const token = await issueToken(home, 'viewer', 'eve');
  makeSource(source, { 'a.txt': 'one\n' });
  daemon = await startDaemon(home);
  client = await mcpClient(socketTransport(home));
  viewer = await mcpClient(httpTransport(daemon.server, token));
}, 60_000);

afterAll(async () => {
  await client?.close();
  await viewer?.close();
  await daemon?.stop();
  remove();
}, 60_000);

// biome-ignore lint/suspicious/noExplicitAny: answers have many shapes, and each test says which it expects.
type Answer = any;

async function ok(name: string, input: Fields = {}, onprogress?: (message: string) => void): Promise<Answer> {
  const options = { timeout: 110_000, ...(onprogress && { onprogress: ({ message = '' }) => onprogress(message) }) };
  const result = await client.callTool({ name, arguments: input }, undefined, options);
  expect({ name, error: result.isError ? answerOf(result) : undefined }).toEqual({ name, error: undefined });
  return result.structuredContent;
}

async function refusal(asker: Client, name: string, input: Fields = {}): Promise<Answer> {
  const result = await asker.callTool({ name, arguments: input });
  expect(result.isError).toBe(true);
  return answerOf(result)['error'];
}

const task = (name: string, spec: Fields) =>
  JSON.stringify({
    apiVersion: 'agentiso.dev/v1alpha1',
    kind: 'Task',
    metadata: { name },
    spec: { team: 'shop', maxAttempts: 1, ...spec },
  });
const agent = async (name: string) => (await ok('get_agent_status', { team: 'shop', agent: name })).agents[0];

it('makes a team and tells how far it is', async () => {
  const progress: string[] = [];
  const asked = { name: 'shop', roles: [{ name: 'dev', count: 2 }], repo: source, isolation: { driver: 'process' } };
  const made = await ok('team_create', asked, (message) => progress.push(message));
  expect(made).toMatchObject({ ready: true, team: { name: 'shop', phase: 'Ready', budget: { max_agents: 10, used: 2 } } });
  expect(made.team.agents).toMatchObject([
    { name: 'dev-1', phase: 'Ready', isolation: 'process', workspace_id: expect.any(String) },
    { name: 'dev-2', phase: 'Ready' },
  ]);
  expect(progress.length).toBeGreaterThan(0);
  expect((await ok('team_list')).teams).toMatchObject([{ name: 'shop', agent_count: 2 }]);
}, 120_000);

it('offers a viewer what reads, and nothing else', async () => {
  const { tools } = await viewer.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['get', 'list', 'watch', 'why', 'team_status', 'explain']));
  expect(names).not.toEqual(expect.arrayContaining(['apply']));
  expect(await refusal(viewer, 'team_destroy', { team: 'shop' })).toMatchObject({ code: 'Forbidden' });
  const listed = await viewer.callTool({ name: 'list', arguments: { kind: 'ag' } });
  expect(answerOf(listed)).toMatchObject({ count: 2 });
});

it('changes it by a manifest, after a look at what would change', async () => {
  const manifest = (count: number) =>
    `apiVersion: agentiso.dev/v1alpha1\nkind: Team\nmetadata: {name: shop}\nspec:\n  roles: [{name: dev, count: 2}, {name: tester, count: ${count}}]\n`;
  const { objects } = await ok('diff', { manifest: manifest(1), force: true });
  expect(objects[0]).toMatchObject({ change: 'change' });
  expect(objects[0].fields.map(({ path }: { path: string }) => path)).toEqual(['spec.roles[1]']);
  expect(await refusal(client, 'apply', { manifest: manifest(9), force: true })).toMatchObject({
    message: expect.stringContaining('maxAgents'),
  });
  const { version } = await ok('list', { kind: 'Agent', team: 'shop' });
  const watching = ok('watch', { kind: 'Agent', team: 'shop', since_version: version, timeout_seconds: 60 });
  expect((await ok('apply', { manifest: manifest(1), force: true })).objects).toMatchObject([{ name: 'shop', action: 'configured' }]);
  expect((await watching).events[0]).toMatchObject({ type: 'ADDED', object: { name: 'shop-tester' } });
  const waited = await ok('wait_for', { kind: 'Agent', name: 'shop-tester', condition: 'Ready' });
  expect(waited).toMatchObject({ met: true, object: { phase: 'Ready' } });
}, 120_000);

it('says why a task waits', async () => {
  await ok('apply', {
    manifest: `${task('shop-fails', { command: 'exit 3' })}\n---\n${task('shop-later', { command: 'true', dependsOn: ['fails'] })}`,
  });
  expect(await ok('wait_for', { kind: 'Task', name: 'shop-fails', phase: 'Succeeded' })).toMatchObject({
    met: false,
    reason: 'it has ended: Failed',
  });
  await ok('wait_for', { kind: 'Task', name: 'shop-later', phase: 'Blocked' });
  const told = await ok('why', { name: 'later' });
  expect(told).toMatchObject({ object: 'task/shop-later', state: 'stuck' });
  expect(told.steps.at(-1).object).toBe('task/shop-fails');
}, 120_000);

it('stops an agent in good order and starts it again', async () => {
  const { pid } = await agent('tester');
  expect(await ok('shutdown_agent', { team: 'shop', agent: 'tester', reason: 'enough' })).toMatchObject({
    acknowledged: true,
    agent: 'shop-tester',
    deadline: expect.any(String),
  });
  expect(await ok('wait_for', { kind: 'Agent', name: 'shop-tester', phase: 'Stopped' })).toMatchObject({ met: true });
  await vi.waitFor(() => expect(isPidAlive(pid)).toBe(false), { timeout: 10_000 });
  const run = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Agent', metadata: { name: 'shop-tester' }, spec: { desiredState: 'Running' } };
  await ok('apply', { manifest: JSON.stringify(run), force: true });
  expect(await ok('wait_for', { kind: 'Agent', name: 'shop-tester', condition: 'Ready' })).toMatchObject({ met: true });
}, 120_000);

it('kills an agent that is busy and ignores signals, and leaves no process of it', async () => {
  const mark = `stubborn-${daemon.run.child.pid}`;
  const command = `trap "" TERM; while true; do sleep 1; done; echo ${mark}`;
  await ok('apply', { manifest: task('shop-stubborn', { command, assignTo: 'dev-1' }) });
  await ok('wait_for', { kind: 'Task', name: 'shop-stubborn', phase: 'Running' });
  await vi.waitFor(async () => expect(await agent('dev-1')).toMatchObject({ status: 'running', current_tasks: ['stubborn'] }), {
    timeout: 30_000,
  });
  const { pid } = await agent('dev-1');
  expect(isPidAlive(pid)).toBe(true);
  // It is written down as started before it is started.
  await vi.waitFor(() => expect(processesMentioning(mark)).not.toEqual([]), { timeout: 30_000 });
  expect(await ok('kill_agent', { team: 'shop', agent: 'dev-1' })).toEqual({ agent: 'shop-dev-1', killed: true, phase: 'Stopped' });
  expect(isPidAlive(pid)).toBe(false);
  expect(processesMentioning(mark)).toEqual([]);
  expect(await agent('dev-1')).toMatchObject({ status: 'stopped' });
}, 120_000);

it('destroys the team, says what it keeps, and nothing else is left', async () => {
  await ok('workspace_exec', { team: 'shop', agent: 'dev-2', command: 'echo new > b.txt && git add b.txt && git commit -qm new' });
  const { agents } = await ok('team_status', { team: 'shop' });
  const ended = await ok('team_destroy', { team: 'shop' });
  expect(ended).toMatchObject({ phase: 'Destroyed' });
  expect(ended.kept).toMatchObject([{ agent: 'shop-dev-2', commits: 1, ref: expect.stringContaining('rescue') }]);
  expect(await refusal(client, 'get', { kind: 'Team', name: 'shop' })).toMatchObject({ code: 'NotFound' });
  expect((await ok('list', { kind: 'Agent' })).count).toBe(0);
  const left = readdirSync(join(home, 'state', 'workspaces'));
  expect(left.filter((id) => agents.some(({ workspace_id }: { workspace_id: string }) => workspace_id === id))).toEqual([]);
}, 120_000);
