/** `team mcp` as it is shipped, with the client of the MCP project. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { bundleGuest, type GuestBundle } from '../../test/support/guest-bundle.ts';
import { FakeWorkspace } from '../relay/fake-host.fixture.ts';

const soon = { timeout: 10_000, interval: 10 };

let bundle: GuestBundle;
let workspace: FakeWorkspace;
let command: string;
let env: Record<string, string>;

beforeAll(async () => {
  bundle = await bundleGuest();
  command = join(dirname(bundle.path), 'bin', 'team');
}, 60_000);

afterAll(() => bundle?.remove());

beforeEach(async () => {
  workspace = await FakeWorkspace.open({ isConfigured: false });
  await workspace.configure({ card: { name: 'bob', team: 'blue' } });
  env = { PATH: '/usr/bin:/bin', AGENTISO_NODE: process.execPath, AGENTISO_SOCKET: workspace.guest.agentSocket };
});

afterEach(() => workspace.close());

async function connected(work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({ command, args: ['mcp'], env }));
  try {
    await work(client);
  } finally {
    await client.close();
  }
}

/** Without a client: lines go in and come out. */
function start(): { readonly child: ChildProcessWithoutNullStreams; say(line: unknown): void; heard(): Promise<Record<string, unknown>> } {
  const child = spawn(command, ['mcp'], { env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    say: (line) => void child.stdin.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`),
    heard: async () => JSON.parse((await lines.next()).value),
  };
}

it('lets a client find the tools and use them', async () => {
  workspace.host.answers = { getBudget: async () => ({ max_agents: 9, used: 1, reserved: 0, remaining: 8, depth: 0, max_depth: 3 }) };
  await connected(async (client) => {
    expect(client.getServerVersion()).toMatchObject({ name: 'agentiso' });
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('check_messages');
    expect((await client.callTool({ name: 'get_budget' })).structuredContent).toMatchObject({ remaining: 8 });
    await client.callTool({ name: 'send_message', arguments: { to: 'ann', content: 'grüße' } });
    expect(workspace.host.sent).toEqual([{ to: 'ann', content: 'grüße' }]);
    expect(await client.callTool({ name: 'send_message', arguments: { to: 'ann' } })).toMatchObject({ isError: true });
    workspace.host.send({ content: 'z'.repeat(250_000) });
    const waited = await client.callTool({ name: 'wait_for_message', arguments: { timeout_seconds: 60 } });
    expect(waited.structuredContent).toMatchObject({ timed_out: false, message: { message_id: 'm1' } });
    const progress: number[] = [];
    const onprogress = (each: { progress: number }) => progress.push(each.progress);
    const nobody = { name: 'wait_for_message', arguments: { from: 'nobody', timeout_seconds: 3 } };
    expect((await client.callTool(nobody, undefined, { onprogress })).structuredContent).toEqual({ message: null, timed_out: true });
    expect(progress[0]).toBe(2);
  });
});

it('ends a wait that the client cancels, and answers what comes after it', async () => {
  await connected(async (client) => {
    const cancel = new AbortController();
    const request = { name: 'wait_for_message', arguments: { timeout_seconds: 100 } };
    const waiting = client.callTool(request, undefined, { signal: cancel.signal });
    await vi.waitFor(async () => expect(await connections()).toBe(1), soon);
    cancel.abort();
    await expect(waiting).rejects.toThrow();
    await vi.waitFor(async () => expect(await connections()).toBe(0), soon);
    await client.ping();
  });
});

it('says in the words of MCP what is no MCP, and that the guest is gone; another guest is found again', async () => {
  const { child, say, heard } = start();
  say('no json');
  expect(await heard()).toMatchObject({ id: null, error: { code: -32_700 } });
  say([{ jsonrpc: '2.0', id: 1, method: 'ping' }]);
  expect(await heard()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  await workspace.relay.close();
  say({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  expect(await heard()).toMatchObject({ id: 2, error: { code: -32_603, message: 'the agent does not answer: ENOENT' } });
  say({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'get_budget' } });
  expect(await heard()).toMatchObject({ id: 3, result: { isError: true, content: [{ text: expect.stringContaining('Unavailable') }] } });
  await workspace.restart();
  await workspace.configure({ card: { name: 'bob' } });
  say({ jsonrpc: '2.0', id: 4, method: 'ping' });
  expect(await heard()).toEqual({ jsonrpc: '2.0', id: 4, result: {} });
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

it('is one reader: what it was given is kept from others while it lives, acknowledged when it goes on, and shown again when it was killed', async () => {
  const tool = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
  const asked = async ({ say, heard }: ReturnType<typeof start>, name: string): Promise<unknown[]> => {
    say(tool(name));
    const { result } = (await heard()) as { result: { structuredContent?: { messages?: { message_id: string }[] } } };
    return (result.structuredContent?.messages ?? []).map(({ message_id }) => message_id);
  };
  const [first, second] = [start(), start()];
  workspace.host.send();
  await vi.waitFor(() => expect(workspace.host.storedSeq).toBe(1), soon);
  expect(await asked(first, 'check_messages')).toEqual(['m1']);
  expect(await asked(second, 'check_messages')).toEqual([]);
  await asked(first, 'get_budget');
  workspace.host.send();
  await vi.waitFor(() => expect(workspace.host.storedSeq).toBe(2), soon);
  expect(await asked(first, 'check_messages')).toEqual(['m2']);
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  await asked(second, 'get_budget');
  expect(await asked(second, 'check_messages')).toEqual(['m2']);
  second.child.stdin.end();
  await once(second.child, 'exit');
});

it('ends when its input ends, also while somebody waits', async () => {
  const { child, say } = start();
  say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait_for_message', arguments: { timeout_seconds: 100 } } });
  await vi.waitFor(async () => expect(await connections()).toBe(1), soon);
  child.stdin.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
  await vi.waitFor(async () => expect(await connections()).toBe(0), soon);
});

it('refuses lines that are too long, and takes the next', async () => {
  const { child, say, heard } = start();
  say('x'.repeat(5 * 1024 * 1024));
  expect(await heard()).toMatchObject({ id: null, error: { code: -32_600 } });
  say({ jsonrpc: '2.0', id: 1, method: 'ping' });
  expect(await heard()).toMatchObject({ id: 1 });
  child.stdin.end();
  await once(child, 'exit');
});

it('writes the settings of clients into a folder that is named', async () => {
  const home = mkdtempSync(join(tmpdir(), 'agentiso-home-'));
  try {
    const child = spawn(command, ['mcp', '--write-configs', home], { env });
    expect(await once(child, 'exit')).toEqual([0, null]);
    const { agentiso } = JSON.parse(readFileSync(join(home, '.cursor/mcp.json'), 'utf8')).mcpServers;
    expect(agentiso).toEqual({
      command,
      args: ['mcp'],
      env: { AGENTISO_SOCKET: env['AGENTISO_SOCKET'], AGENTISO_NODE: process.execPath },
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StdioClientTransport(agentiso));
    await client.ping();
    await client.close();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

/** Of the socket, as the kernel counts them: one line for each end that the guest has accepted. */
async function connections(): Promise<number> {
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  return lines.filter((line) => line.endsWith(` ${workspace.guest.agentSocket}`) && !line.includes(' 00010000 ')).length;
}
