/** An agent's own token, from outside its workspace: the API and MCP know it as that agent, and as nobody else. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { agentTools } from '#protocol/agent-tools.ts';
import { AgentsHome } from '../support/agents-home.ts';
import { apiClient } from '../support/api-client.ts';
import { readKubeconfig, type Server } from '../support/daemon.ts';
import { answerOf, httpTransport, mcpClient } from '../support/mcp-client.ts';

const home = new AgentsHome();
const clients: Client[] = [];
let server: Server;

beforeAll(async () => {
  await home.start();
  server = readKubeconfig(home.kubeconfig);
  for (const team of ['red', 'blue']) {
    await home.create('Team', team, { isolation: { driver: 'process' }, roles: [{ name: 'ann' }, { name: 'bob' }] });
  }
  await home.ready(['red-ann', 'red-bob', 'blue-ann']);
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await home.close();
});

async function tokenOf(agent: string): Promise<string> {
  const { code, stdout, stderr } = await home.cli('token', 'create', '--role', `agent:${agent}`);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.trim();
}

async function connect(agent: string): Promise<Client> {
  const client = await mcpClient(httpTransport(server, await tokenOf(agent)));
  clients.push(client);
  return client;
}

it('has the tools of an agent and nothing else, and acts as that agent', async () => {
  const [ann, bob, stranger] = [await connect('red/ann'), await connect('red/bob'), await connect('blue/ann')];
  expect((await ann.listTools()).tools.map(({ name }) => name)).toEqual(agentTools.map(({ name }) => name));
  expect(ann.getServerCapabilities()).not.toHaveProperty('resources');
  const wait = bob.callTool({ name: 'wait_for_message', arguments: { from: 'ann', timeout_seconds: 60 } });
  const sent = await ann.callTool({ name: 'send_message', arguments: { to: 'bob', content: 'from outside' } });
  const { message_id } = answerOf(sent);
  expect(answerOf(await wait)).toMatchObject({ message: { message_id, from: 'ann', team: 'red', content: 'from outside' } });
  // Its own programs read the same inbox: what was given out here, and acknowledged by going on, is not given out there again.
  const inside = () => home.inside('red-bob', 'team', 'inbox', '--keep');
  expect(await inside()).toContain('from outside');
  await bob.callTool({ name: 'check_messages', arguments: {} });
  await bob.callTool({ name: 'get_budget', arguments: {} });
  expect(await inside()).not.toContain('from outside');
  expect(answerOf(await stranger.callTool({ name: 'check_messages', arguments: {} }))).toMatchObject({ messages: [] });
});

it('cannot be anybody else, nor an operator', async () => {
  const ann = await connect('red/ann');
  const forged = await ann.callTool({ name: 'send_message', arguments: { to: 'bob', content: 'x', from: 'bob' } });
  expect(answerOf(forged)).toMatchObject({ error: { code: 'Forbidden', field: 'from' } });
  const across = await ann.callTool({ name: 'send_message', arguments: { to: 'blue/ann', content: 'x' } });
  expect(answerOf(across)).toMatchObject({ error: { code: 'Forbidden' } });
  const before = (await home.list('teams')).map(({ metadata }) => metadata.resourceVersion);
  const asOperator = await ann.callTool({ name: 'team_destroy', arguments: { team: 'blue' } });
  expect(answerOf(asOperator)).toMatchObject({ error: { code: 'Forbidden' } });
  expect((await home.list('teams')).map(({ metadata }) => metadata.resourceVersion)).toEqual(before);
});

it('sees its own team in the API, and not those of others', async () => {
  const api = apiClient({ ...server, token: await tokenOf('red/ann') });
  try {
    const listed = await api.call('GET', '/apis/agentiso.dev/v1alpha1/namespaces/default/agents');
    const names = listed.json().items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    expect(names).toEqual(['red-ann', 'red-bob']);
    expect((await api.call('POST', '/tokens', { body: { user: 'me', role: 'admin' } })).status).toBe(403);
  } finally {
    api.close();
  }
});

it('is shut out when its token is taken away', async () => {
  const ann = await connect('red/ann');
  const { stdout } = await home.cli('token', 'list');
  expect(stdout).toMatch(/^agent:default\/red\/ann +agent /m);
  expect(await home.cli('token', 'revoke', 'agent:default/red/ann')).toMatchObject({ code: 0 });
  await expect(ann.listTools()).rejects.toThrow('401');
});

it('is refused for what is no agent, and with a name of its own', async () => {
  expect(await home.cli('token', 'create', '--role', 'agent:red')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('expected viewer, admin or agent:TEAM/AGENT'),
  });
  expect(await home.cli('token', 'create', 'ann', '--role', 'agent:red/ann')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('agentiso token create --role agent:red/ann'),
  });
});
