/**
 * A whole run by MCP: an operator's client makes a team on a repository, three agents in workspaces of their own use their tools and
 * nothing else to talk, claim, plan and finish, the operator merges and ends them. What came of it is looked at on disk.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { AgentsHome, WAIT } from '../support/agents-home.ts';
import { answerOf, mcpClient, stdioTransport } from '../support/mcp-client.ts';
import { type McpMember, MEMBER_FILE, startMembers } from '../support/mcp-members.ts';
import { killQuietly, processesMentioning } from '../support/processes.ts';
import { gitIn, makeSource } from '../support/work.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool, looked at by assertions
type Any = any;

const DEVS = ['dev-1', 'dev-2', 'dev-3'] as const;
const FOREVER = 'while :; do sleep 1; done';
const teamOn = (path: string) => `
apiVersion: agentiso.dev/v1alpha1
kind: Team
metadata: { name: shop }
spec:
  description: sells things
  repo: { path: ${path} }
  messaging: { broadcast: Any }
  roles:
    - { name: dev, count: ${DEVS.length}, restartPolicy: Never }
`;
const home = new AgentsHome();
const source = () => join(home.folder, 'source');
let operator: Client;
let members: readonly McpMember[] = [];
/** Everything that the operator was told. */
const told: string[] = [];

beforeAll(async () => {
  makeSource(source(), { 'README.md': '# Shop\n', '.gitignore': `${MEMBER_FILE}\n` });
  await home.start();
  operator = await mcpClient(stdioTransport(home.home), 'operator');
  expect(await ok('team_create', { manifest: teamOn(source()) })).toMatchObject({ ready: true });
  await home.agents();
  members = await startMembers(
    home.home,
    DEVS.map((name) => `shop-${name}`),
  );
}, 120_000);

afterAll(async () => {
  await Promise.all(members.map((member) => member.close()));
  await operator?.close();
  await home.close();
}, 60_000);

async function ok(name: string, input: Record<string, unknown> = {}): Promise<Any> {
  const result = await operator.callTool({ name, arguments: input }, undefined, { timeout: 100_000 });
  told.push(JSON.stringify(result));
  expect({ name, error: result.isError ? answerOf(result) : undefined }).toEqual({ name, error: undefined });
  return result.structuredContent;
}

function member(name: (typeof DEVS)[number]): McpMember {
  return members[DEVS.indexOf(name)] as McpMember;
}

/** Answers of the tools of an agent that must not be refusals. */
async function tool(name: (typeof DEVS)[number], called: string, args: Record<string, unknown> = {}): Promise<Any> {
  const answer = await member(name).call(called, args);
  expect({ called, error: answer.error }).toEqual({ called, error: undefined });
  return answer;
}

/** What the host has on its disk of an inbox, oldest first. */
async function journal(name: (typeof DEVS)[number]): Promise<Any[]> {
  const { metadata } = await home.agent(`shop-${name}`);
  const text = readFileSync(join(home.home, 'state', 'mail', `${metadata.uid}.jsonl`), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const contentsIn = async (name: (typeof DEVS)[number]) =>
  (await journal(name)).flatMap(({ message }) => (message?.content === undefined ? [] : [message.content]));

/** Until so many calls of this agent wait in its guest, each on a connection to its socket. */
async function untilWaiting(name: (typeof DEVS)[number], count: number): Promise<void> {
  const look = 'grep " $AGENTISO_SOCKET$" /proc/net/unix | grep -vc " 00010000 " || true';
  await vi.waitFor(async () => expect(Number(await member(name).run(look))).toBe(count), WAIT);
}

async function statusOf(agent: string): Promise<Any> {
  const { agents } = await ok('get_agent_status', { team: 'shop', agent });
  return agents[0];
}

/** A process and all below it. */
function treeOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))];
}

it('agents find their tools, and each other', async () => {
  const { tools } = await member('dev-1').list();
  expect(tools.map(({ name }: Any) => name)).toEqual(expect.arrayContaining(['check_messages', 'claim_request', 'complete_task']));
  const { agents } = await tool('dev-1', 'list_agents');
  expect(agents.map(({ name }: Any) => name).sort()).toEqual(DEVS);
});

it('two agents talk by tools alone, and a wait wakes when a message comes', async () => {
  const waiting = member('dev-2').begin('wait_for_message', { from: 'dev-1', timeout_seconds: 100 });
  await untilWaiting('dev-2', 1);
  const { message_id } = await tool('dev-1', 'send_message', { to: 'dev-2', content: 'which port?', message_type: 'request' });
  expect(await waiting.answer).toMatchObject({ timed_out: false, message: { message_id, from: 'dev-1', content: 'which port?' } });
  const { messages } = await tool('dev-2', 'check_messages');
  expect(messages).toMatchObject([{ message_id }]);
  await tool('dev-2', 'send_message', { to: 'dev-1', content: '8080', message_type: 'response' });
  const { message } = await tool('dev-1', 'wait_for_message', { from: 'dev-2', timeout_seconds: 60 });
  expect(message).toMatchObject({ content: '8080', message_type: 'response' });
  expect(await contentsIn('dev-2')).toEqual(['which port?']);
});

it('a broadcast reaches all but its sender, and one of the operator reaches all', async () => {
  await tool('dev-1', 'send_message', { to: '*', content: 'I take the cart' });
  const { accepted } = await ok('broadcast', { team: 'shop', content: 'we begin' });
  expect(accepted.map((name: string) => name.replace('shop-', '')).sort()).toEqual(DEVS);
  for (const name of ['dev-2', 'dev-3'] as const) expect(await contentsIn(name)).toContain('I take the cart');
  expect(await contentsIn('dev-1')).not.toContain('I take the cart');
  for (const name of DEVS) expect(await contentsIn(name)).toContain('we begin');
});

it('a wait ends with its time or with its client, takes nothing, and leaves nothing', async () => {
  const before = await journal('dev-3');
  expect(await tool('dev-3', 'wait_for_message', { from: 'dev-2', timeout_seconds: 1 })).toEqual({ message: null, timed_out: true });
  const waiting = member('dev-3').begin('wait_for_message', { from: 'dev-2', timeout_seconds: 100 });
  const ended = expect(waiting.answer).rejects.toThrow();
  await untilWaiting('dev-3', 1);
  waiting.cancel();
  await ended;
  await untilWaiting('dev-3', 0);
  expect(await journal('dev-3')).toEqual(before);
});

it('of those who claim a request at once one has it, and who asked hears of one', async () => {
  const { request_id } = await tool('dev-1', 'request_task', { description: 'write the prices down', timeout_seconds: 100 });
  const claimers = ['dev-2', 'dev-3'] as const;
  const claims = await Promise.all(claimers.map((name) => tool(name, 'claim_request', { request_id })));
  expect(claims.map(({ claimed }) => claimed).sort()).toEqual([false, true]);
  const winner = claimers[claims.findIndex(({ claimed }) => claimed)] as 'dev-2' | 'dev-3';
  const { task, attempt } = claims.find(({ claimed }) => claimed);
  await member(winner).run('echo "apple 1" > prices.txt && git add prices.txt && git commit -qm prices');
  expect(await tool(winner, 'update_task', { task, status: 'in_progress', progress: 'half' })).toMatchObject({ status: 'in_progress' });
  expect(await tool(winner, 'complete_task', { task, attempt, result: 'in prices.txt' })).toMatchObject({ status: 'completed' });
  const responses = await vi.waitFor(async () => {
    const mail = (await journal('dev-1')).flatMap(({ message }) => (message?.request_id === request_id ? [message.content] : []));
    expect(mail).toHaveLength(2);
    return mail;
  }, WAIT);
  expect(responses).toEqual([`claimed by ${winner}`, 'in prices.txt']);
  const { object } = await ok('get', { kind: 'Task', name: `shop-${request_id}` });
  expect(object.status).toMatchObject({ phase: 'Succeeded', owner: `shop-${winner}`, createdBy: 'dev-1', progress: { text: 'half' } });
});

it('the operator merges what agents have committed', async () => {
  await member('dev-3').run('echo shelf > shelf.txt && git add shelf.txt && git commit -qm shelf');
  const merged = await ok('workspace_merge', { team: 'shop', sources: ['dev-2', 'dev-3'], target: { branch: 'main' }, wait: true });
  expect(merged).toMatchObject({ success: true, phase: 'Merged', conflicts: [], total_commits_applied: 2 });
  expect(merged.target_after).toBe(gitIn(source(), 'rev-parse', 'main'));
  expect([gitIn(source(), 'show', 'main:prices.txt'), gitIn(source(), 'show', 'main:shelf.txt')]).toEqual(['apple 1', 'shelf']);
});

it('an agent whose processes are killed is dead, gone from the list of its team mates, and has no claims', async () => {
  await ok('assign_task', { team: 'shop', title: 'Roof', prompt: 'build a roof', name: 'roof' });
  await vi.waitFor(async () => {
    expect(await tool('dev-3', 'claim_request', { request_id: 'roof' })).toMatchObject({ claimed: true });
  }, WAIT);
  expect((await home.task('shop-roof')).status).toMatchObject({ phase: 'Claimed', owner: 'shop-dev-3' });
  for (const pid of treeOf((await statusOf('dev-3')).pid)) killQuietly(pid);
  await ok('wait_for', { kind: 'Agent', name: 'shop-dev-3', phase: 'Failed', timeout_seconds: 60 });
  await vi.waitFor(async () => {
    const { agents } = await tool('dev-1', 'list_agents');
    expect(agents.map(({ name }: Any) => name).sort()).toEqual(['dev-1', 'dev-2']);
  }, WAIT);
  const { status } = await home.reached('shop-roof', 'Pending');
  expect([status?.reason, status?.owner]).toEqual(['AttemptLost', undefined]);
  expect(await statusOf('dev-3')).toMatchObject({ status: 'dead', current_tasks: [] });
});

it('an open task is claimed, done and read by the operator', async () => {
  const { task_id } = await ok('assign_task', { team: 'shop', title: 'Cart', prompt: 'write a cart', name: 'cart' });
  const claim = await vi.waitFor(async () => {
    const answer = await tool('dev-1', 'claim_request', { request_id: 'cart' });
    expect(answer).toMatchObject({ claimed: true });
    return answer;
  }, WAIT);
  await member('dev-1').run('echo cart > cart.txt && git add cart.txt && git commit -qm cart');
  await tool('dev-1', 'complete_task', { task: claim.task, attempt: claim.attempt, result: 'there is a cart' });
  expect(await ok('get_task_result', { task_id })).toMatchObject({ status: 'completed', output: 'there is a cart' });
});

it('a plan is refused, made anew and approved before the work begins', async () => {
  const asked = { team: 'shop', title: 'Till', name: 'till', agent: 'dev-2', plan_required: true };
  await ok('assign_task', { ...asked, command: 'echo till > till.txt && git add till.txt && git commit -qm till' });
  await ok('wait_for', { kind: 'Task', name: 'shop-till', phase: 'Claimed', timeout_seconds: 60 });
  const submit = async (plan: string) => {
    await tool('dev-2', 'submit_plan', { task: 'till', plan });
    const { messages } = await ok('team_receive', { team: 'shop', wait_seconds: 60 });
    expect(messages).toMatchObject([{ message_type: 'plan_submission', content: expect.stringMatching(`^Plan of dev-2 .*\\n\\n${plan}`) }]);
    await ok('team_receive', { team: 'shop', ack: messages.map(({ message_id }: Any) => message_id) });
  };
  await submit('all at once');
  expect(await ok('approve_plan', { task: 'shop-till', approved: false, feedback: 'in steps' })).toMatchObject({ status: 'refused' });
  const { message } = await tool('dev-2', 'wait_for_message', { message_type: 'plan_approval', timeout_seconds: 60 });
  expect(message.content).toContain('in steps');
  expect(await member('dev-2').run('ls till.txt 2>/dev/null || echo none')).toBe('none\n');
  await submit('in steps');
  expect(await ok('approve_plan', { task: 'shop-till', approved: true })).toMatchObject({ status: 'approved' });
  await ok('wait_for', { kind: 'Task', name: 'shop-till', phase: 'Succeeded', timeout_seconds: 60 });
  expect(await member('dev-2').run('cat till.txt')).toBe('till\n');
});

it('the operator merges the rest, beside what is there', async () => {
  const merged = await ok('workspace_merge', { team: 'shop', sources: ['dev-1', 'dev-2'], target: { branch: 'main' }, wait: true });
  expect(merged).toMatchObject({ success: true, phase: 'Merged', merged_sources: ['dev-1', 'dev-2'], total_commits_applied: 2 });
  const files = gitIn(source(), 'ls-tree', '--name-only', 'main').split('\n').sort();
  expect(files).toEqual(['.gitignore', 'README.md', 'cart.txt', 'prices.txt', 'shelf.txt', 'till.txt']);
});

it('a busy agent that agrees is shut down before its time is over', async () => {
  await ok('assign_task', { team: 'shop', title: 'Wait', name: 'wait', agent: 'dev-1', command: FOREVER });
  await ok('wait_for', { kind: 'Agent', name: 'shop-dev-1', phase: 'Working', timeout_seconds: 60 });
  const stopping = ok('shutdown_agent', { team: 'shop', agent: 'dev-1', reason: 'closing time' });
  const { message } = await tool('dev-1', 'wait_for_message', { message_type: 'shutdown_request', timeout_seconds: 60 });
  expect(message.content).toContain('closing time');
  expect(await stopping).toMatchObject({ acknowledged: true, phase: 'Stopping' });
  const answer = { to: 'lead', message_type: 'shutdown_response', content: 'good night', metadata: { accepted: 'true' } };
  // It may be ended before it hears that this was accepted.
  await member('dev-1')
    .call('send_message', answer)
    .catch(() => {});
  await ok('wait_for', { kind: 'Agent', name: 'shop-dev-1', phase: 'Stopped', timeout_seconds: 60 });
  expect((await home.agent('shop-dev-1')).status?.shutdown).toMatchObject({ answer: 'Accepted' });
});

it('an agent that ignores SIGTERM is killed, and nothing of it is left', async () => {
  const mark = `stubborn-of-${home.folder}`;
  await member('dev-2').run(`(trap '' TERM; exec sh -c "trap '' TERM; : ${mark}; ${FOREVER}") >/dev/null 2>&1 &`);
  await vi.waitFor(() => expect(processesMentioning(mark)).not.toEqual([]), WAIT);
  expect(await ok('kill_agent', { team: 'shop', agent: 'dev-2' })).toEqual({ agent: 'shop-dev-2', killed: true, phase: 'Stopped' });
  expect(processesMentioning(mark)).toEqual([]);
});

it('nobody was told where things lie, and every call stands in the log with who made it', async () => {
  // The operator's own repository is what it has said itself.
  const all = [...told.map((text) => text.replaceAll(source(), '')), ...members.flatMap((each) => each.told)];
  expect(all.length).toBeGreaterThan(40);
  expect(all.filter((text) => text.includes(home.folder))).toEqual([]);
  const called = await vi.waitFor(() => {
    const lines = readFileSync(join(home.home, 'state', 'audit', 'calls.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const entries = lines.map((line) => JSON.parse(line) as { who: string; mode: string; tool: string; outcome: string });
    expect(entries.map((entry) => entry.tool)).toContain('kill_agent');
    return entries;
  }, WAIT);
  const by = (mode: string) => new Set(called.filter((entry) => entry.mode === mode && entry.outcome === 'ok').map((entry) => entry.tool));
  expect([...by('orchestrator')]).toEqual(
    expect.arrayContaining(['team_create', 'broadcast', 'assign_task', 'approve_plan', 'workspace_merge', 'shutdown_agent', 'kill_agent']),
  );
  expect([...by('agent')]).toEqual(
    expect.arrayContaining(['send_message', 'request_task', 'claim_request', 'update_task', 'complete_task', 'submit_plan']),
  );
  expect(JSON.stringify(called)).not.toContain('which port?');
});
