/** Agents of a real team that work together by MCP tools alone. What does not depend on how they are isolated is tried in sandboxes. */
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AgentsHome, WAIT, withSandboxes } from '../support/agents-home.ts';
import { requestsFrom } from '../support/agents-requests.ts';
import { McpAgents } from '../support/mcp-agents.ts';

const ROLES = ['ann', 'bob', 'cid', 'lead'].map((name) => ({ name }));
const AGENTS = ROLES.map(({ name }) => `talk-${name}`);
const ASKED = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

withSandboxes('agents in sandboxes', () => agentsWithTools('sandbox'));
describe('agents as plain processes', () => agentsWithTools('process'));

function agentsWithTools(driver: 'sandbox' | 'process'): void {
  const isSandbox = driver === 'sandbox';
  const home = new AgentsHome();
  const mcp = new McpAgents(home);
  /** Of the person who has started the daemon. */
  const personsHome = () => join(home.folder, 'person');

  beforeAll(async () => {
    mkdirSync(personsHome());
    await home.start([], { HOME: personsHome() });
    const network = isSandbox ? { network: { allowInterAgent: true, allowedPorts: [8080] } } : {};
    await home.create('Team', 'talk', { isolation: { driver }, ...network, roles: ROLES });
    await home.ready(AGENTS);
    await mcp.install(AGENTS);
  });
  afterAll(() => home.close());

  /** What the host has on its disk of an inbox. */
  const journal = async (agent: string): Promise<string> => {
    const { metadata } = await home.agent(agent);
    return readFileSync(join(home.home, 'state', 'mail', `${metadata.uid}.jsonl`), 'utf8');
  };

  it('exchange messages, and what was read is acknowledged by going on', async () => {
    const ann = mcp.run(
      'talk-ann',
      'list',
      { name: 'send_message', to: 'bob', content: 'how are you?' },
      { name: 'wait_for_message', from: 'bob', timeout_seconds: 60 },
      { name: 'check_messages' },
      { name: 'list_agents' },
    );
    const bob = mcp.run(
      'talk-bob',
      { name: 'wait_for_message', from: 'ann', timeout_seconds: 60 },
      { name: 'check_messages' },
      { name: 'send_message', to: 'ann', content: 'fine', message_type: 'response' },
    );
    const [[listed, sent, answer, mail, others], [question, read]] = await Promise.all([ann, bob]);
    expect(listed.tools.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(['check_messages', 'get_budget']));
    expect(sent).toMatchObject({ state: 'Accepted' });
    expect(question.message).toMatchObject({ from: 'ann', content: 'how are you?', message_id: sent.message_id });
    expect(read.messages).toEqual([question.message]);
    expect(answer.message).toMatchObject({ from: 'bob', content: 'fine', message_type: 'response' });
    expect(mail.messages).toEqual([answer.message]);
    expect(others.agents.map(({ name }: { name: string }) => name).sort()).toEqual(ROLES.map(({ name }) => name));
    await vi.waitFor(async () => {
      for (const agent of ['talk-ann', 'talk-bob']) expect(await journal(agent)).toContain('"is":"acked"');
    }, WAIT);
  });

  it('wait without taking anything, until the time is over or nobody waits any more', async () => {
    await mcp.run('talk-ann', { name: 'send_message', to: 'cid', content: 'stay' });
    await vi.waitFor(async () => expect(await journal('talk-cid')).toContain('"is":"delivered"'), WAIT);
    const before = await journal('talk-cid');
    const [there, cancelled, over] = await mcp.run('talk-cid', { name: 'wait_for_message' }, 'cancel a wait', {
      name: 'wait_for_message',
      from: 'nobody',
      timeout_seconds: 1,
    });
    expect(there.message).toMatchObject({ content: 'stay' });
    expect(cancelled).toEqual({ outcome: 'cancelled' });
    expect(over).toMatchObject({ message: null, timed_out: true });
    console.info(`${driver}: a wait of 1 s took ${over.tookMs} ms`);
    expect(await journal('talk-cid')).toBe(before);
    await mcp.run('talk-cid', { name: 'check_messages' }, { name: 'get_budget' });
  });

  it('reach their tools over HTTP with their own token, from their own workspace', async () => {
    const [listed, budget] = await mcp.over('talk-ann', { over: 'http', steps: ['list', { name: 'get_budget' }] });
    expect([listed.tools.length, budget.used]).toEqual([17, ROLES.length]);
    const stranger = await mcp.try('talk-ann', { over: 'http-without-token', steps: ['list'] });
    expect([stranger.code, stranger.stdout]).toEqual([1, '']);
    const [none, own] = await requestsFrom(home, 'talk-ann', [
      { url: 'own:/mcp', method: 'POST', json: ASKED },
      { url: 'own:/mcp', method: 'POST', json: ASKED, token: 'agent' },
    ]);
    expect([none?.status, own?.status]).toEqual([401, 200]);
  });

  if (isSandbox) {
    const nodeOf = (agent: string) => home.inside(agent, 'sh', '-c', 'printf %s "$AGENTISO_NODE"');

    it('give a request to one of those who claim it at once, and its result to who asked', async () => {
      const [{ request_id }] = await mcp.run('talk-ann', { name: 'request_task', description: 'look at this', timeout_seconds: 100 });
      const claimers = ['talk-bob', 'talk-cid', 'talk-lead'];
      const claims = await Promise.all(claimers.map((agent) => mcp.run(agent, { name: 'claim_request', request_id })));
      const won = claims.flatMap(([claim], index) => (claim.claimed ? [{ claim, agent: claimers[index] ?? '' }] : []));
      expect(won).toHaveLength(1);
      const [{ agent, claim }] = won as [{ agent: string; claim: { task: string; attempt: number } }];
      const [noted, done] = await mcp.run(
        agent,
        { name: 'update_task', task: claim.task, status: 'in_progress', progress: 'nearly' },
        { name: 'complete_task', task: claim.task, attempt: claim.attempt, result: 'it is fine' },
      );
      expect([noted.status, done.status]).toEqual(['in_progress', 'completed']);
      expect((await home.task(`talk-${claim.task}`)).status).toMatchObject({ phase: 'Succeeded' });
      const responses = await vi.waitFor(async () => {
        const [{ messages }] = await mcp.run('talk-ann', { name: 'check_messages', keep: true });
        const found = messages.filter((each: { request_id?: string }) => each.request_id === request_id);
        expect(found).toHaveLength(2);
        return found as { content: string }[];
      }, WAIT);
      expect(responses[0]?.content).toContain(agent.replace('talk-', ''));
      expect(responses[1]?.content).toContain('it is fine');
    });

    it('share notes', async () => {
      const path = 'teams/talk/notes/plan.md';
      const [{ version }] = await mcp.run('talk-ann', { name: 'vault_write', path, content: '# Plan\n' });
      const [read, found, stale, outside] = await mcp.run(
        'talk-bob',
        { name: 'vault_read', path },
        { name: 'vault_search', pattern: 'Plan' },
        { name: 'vault_write', path, content: 'x', if_version: 'another' },
        { name: 'vault_read', path: '../../etc/passwd' },
      );
      expect(read).toMatchObject({ content: '# Plan\n', version });
      expect(found.hits).toMatchObject([{ path, line: 1 }]);
      expect(stale.error).toMatchObject({ code: 'Conflict' });
      expect(outside.error.code).toMatch(/^(?:Forbidden|Invalid|NotFound)$/);
    });

    it('never speak for somebody else', async () => {
      const names = ['from', 'agent', 'owner'];
      const lies = names.map((field) => ({ name: 'send_message', to: 'cid', content: 'a lie', [field]: 'lead' }));
      const answers = await mcp.run('talk-bob', ...lies, { name: 'send_message', to: 'cid', content: 'the truth' }, { name: 'dance' });
      expect(answers.slice(0, 3).map(({ error }) => [error.code, error.field])).toEqual(names.map((field) => ['Forbidden', field]));
      expect(answers[4].error).toMatchObject({ code: 'Invalid', hint: expect.stringContaining('send_message') });
      const written = await journal('talk-cid');
      expect(written).toContain('"content":"the truth"');
      expect(written).not.toContain('a lie');
      expect(JSON.parse(written.split('\n').find((line) => line.includes('the truth')) ?? '').message.from).toBe('bob');
    });

    it('do not reach the tools of their team mates, with whatever token', async () => {
      const { status } = await home.agent('talk-ann');
      const token = (await home.inside('talk-ann', 'sh', '-c', 'printf %s "$AGENTISO_AGENT_TOKEN"')).trim();
      const at = { url: `${status?.endpoints?.http}/mcp`, method: 'POST', json: ASKED };
      const answers = await requestsFrom(home, 'talk-bob', [{ ...at, token: 'team' }, { ...at, token }, { ...at, token: 'agent' }, at]);
      expect(answers.map((answer) => answer.status)).toEqual([403, 403, 401, 401]);
    });

    it('have the settings of MCP clients in their own home, and nothing of it in the workspace', async () => {
      const [budget] = await mcp.over('talk-cid', { over: 'settings', steps: [{ name: 'get_budget' }] });
      expect(budget).toMatchObject({ used: ROLES.length });
      const settings = await home.inside(
        'talk-cid',
        'sh',
        '-c',
        'cat ~/.codex/config.toml; grep -rl "$AGENTISO_AGENT_TOKEN" ~ /workspace || true',
      );
      expect(settings).toBe(
        '[mcp_servers.agentiso]\ncommand = "/run/bin/team"\nargs = ["mcp"]\ntool_timeout_sec = 150\n\n' +
          `[mcp_servers.agentiso.env]\nAGENTISO_SOCKET = "/run/agentiso/agent.sock"\nAGENTISO_NODE = "${await nodeOf('talk-cid')}"\n`,
      );
      expect(await home.inside('talk-cid', 'ls', '-A', '/workspace')).toBe('inside.cjs\n');
    });
  }

  it('write nothing into the home of the person', () => {
    expect(existsSync(personsHome())).toBe(true);
    expect(readdirSync(personsHome())).toEqual([]);
  });

  it('were told nothing of where things lie on the host', () => {
    expect(mcp.told.length).toBeGreaterThan(10);
    expect(mcp.told.filter((text) => text.includes(home.folder))).toEqual([]);
  });
}
