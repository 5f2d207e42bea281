/** MCP beside a served API, in this process: what agents get, and what a daemon without agents tells them. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import { socketConnection } from '#client/socket-connection.ts';
import { silentLogger as log } from '#lib/log.ts';
import type { AgentMode } from '#mcp/agent-mode.ts';
import { asCaller } from '#mcp/as-caller.ts';
import { createRates } from '#relay/create-rates.ts';
import { agentIdentity } from '#server/auth/identity.ts';
import { DirectoryStore } from '#store/directory.ts';
import { readKubeconfig } from '../../test/support/daemon.ts';
import { answerOf, fetchFrom, httpTransport, mcpClient, socketTransport } from '../../test/support/mcp-client.ts';
import { serveApi } from './serve-api.ts';
import { serveMcp } from './serve-mcp.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function serve(agentMode?: AgentMode) {
  const folder = mkdtempSync(join(tmpdir(), 'agentiso-mcp-'));
  const home = join(folder, 'home');
  const directory = await DirectoryStore.open({ home, kinds, admission, log, freeze: false });
  // As a daemon that was killed leaves it.
  writeFileSync(join(home, 'mcp.sock'), '');
  const mcp = serveMcp({
    home,
    version: '1',
    log,
    rates: createRates(),
    audit: { record() {} },
    workspaces: {} as never,
    ask: (request, channel) => served.ask(request, channel),
    ...(agentMode && { agentMode }),
  });
  const served = await serveApi({
    config: { home, logLevel: 'silent' },
    store: directory.store,
    log,
    metrics: () => '',
    reconcileProblem: () => undefined,
    desks: { mcp: mcp.desk },
  });
  await mcp.listen();
  ends.push(async () => {
    await mcp.close();
    await served.close();
    await directory.close();
    rmSync(folder, { recursive: true });
  });
  const coder = served.tokens.issueTransient(agentIdentity({ namespace: 'default', team: 'shop', name: 'coder' }));
  const viewer = await served.tokens.issue({ role: 'viewer', user: 'eve' });
  return { home, server: readKubeconfig(served.kubeconfig), coder, viewer };
}

const tool = { name: 'check_messages', title: 't', description: 'd', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } };
const echo: AgentMode = {
  tools: [{ ...tool, annotations: { title: 't', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false } }],
  call: async (agent, name, args) => ({ content: [{ type: 'text', text: JSON.stringify({ agent, name, args }) }], structuredContent: {} }),
};

describe('serveMcp', () => {
  it('opens a private socket, also where one was left behind', async () => {
    const { home } = await serve();
    const { mode, ...stat } = statSync(join(home, 'mcp.sock'));
    expect([mode & 0o777, stat.size]).toEqual([0o600, 0]);
    const client = await mcpClient(socketTransport(home));
    expect(answerOf(await client.callTool({ name: 'team_list', arguments: {} }))).toMatchObject({ teams: [] });
    await client.close();
  });

  it('gives an agent the tools of its team, as itself, and nothing else', async () => {
    const { server, coder } = await serve(echo);
    const client = await mcpClient(httpTransport(server, coder));
    expect(client.getServerCapabilities()).toEqual({ tools: {} });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['check_messages']);
    const arguments_ = { agent: 'somebody else' };
    expect(answerOf(await client.callTool({ name: 'check_messages', arguments: arguments_ }))).toEqual({
      agent: { namespace: 'default', team: 'shop', name: 'coder' },
      name: 'check_messages',
      args: arguments_,
    });
    expect(answerOf(await client.callTool({ name: 'team_destroy', arguments: {} }))).toEqual({
      error: {
        code: 'Forbidden',
        retryable: false,
        message: 'team_destroy is a tool of operators; this token is of agent default/shop/coder',
        hint: 'tools/list names yours',
      },
    });
    await client.close();
  });

  it('refuses agents where there is nothing for them', async () => {
    const { server, coder } = await serve();
    const response = await fetchFrom(server)(`${server.url}/mcp`, { method: 'POST', headers: { authorization: `Bearer ${coder}` } });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain('an agent has its MCP server in its own workspace');
  });

  it('asks the API as whoever showed the token', async () => {
    const { home, viewer } = await serve();
    const connection = socketConnection({ name: 'test', socketPath: join(home, 'agentiso.sock') });
    const userOf = async (authorization?: string) => {
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' });
      const headers = { 'content-type': 'application/json' };
      const response = await asCaller(connection, authorization).request({ method: 'POST', path, body, headers });
      return [
        response.status,
        (JSON.parse(await response.text()) as { status: { userInfo?: { username: string } } }).status.userInfo?.username,
      ];
    };
    expect([await userOf(), await userOf(`Bearer ${viewer}`), await userOf('Bearer bad')]).toEqual([
      [201, 'admin'],
      [201, 'eve'],
      [401, undefined],
    ]);
    connection.close();
  });
});
