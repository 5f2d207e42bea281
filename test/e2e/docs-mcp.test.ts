/** docs/mcp.md cannot lie: its examples are sent by a real client to a real daemon, and its agent's example from inside the workspace. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AGENT_HEADING, mcpPage, OPERATOR_HEADING } from '../../scripts/generate-mcp.ts';
import { type Daemon, startDaemon, temporaryFolder } from '../support/daemon.ts';
import { answerOf, mcpClient, stdioTransport } from '../support/mcp-client.ts';
import { fences } from './docs-pages.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'mcp.md'), 'utf8');

interface Request {
  readonly jsonrpc: string;
  readonly id: number;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

interface Step {
  readonly request: Request;
  readonly answer: object;
}

/** Requests and answers take turns. */
function stepsBelow(heading: string): readonly Step[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const blocks = fences(section.split('\n## ')[0] ?? '').map(({ body }) => JSON.parse(body) as object);
  const steps = blocks.flatMap((request, index) =>
    'method' in request ? [{ request: request as Request, answer: blocks[index + 1] ?? {} }] : [],
  );
  expect(steps.length * 2).toBe(blocks.length);
  return steps;
}

const { folder, remove } = temporaryFolder();
let daemon: Daemon;
let client: Client;
beforeAll(async () => {
  daemon = await startDaemon(folder);
  client = await mcpClient(stdioTransport(folder));
});
afterAll(async () => {
  await client?.close();
  await daemon?.stop();
  remove();
});

async function send({ method, params }: Request): Promise<object> {
  return client.request({ method, params }, ResultSchema, { timeout: 110_000 });
}

function check({ request, answer }: Step, result: object): void {
  const said = JSON.stringify(result);
  expect('isError' in result, `${JSON.stringify(request)}: ${said}`).toBe(false);
  expect('structuredContent' in result ? result.structuredContent : result, said).toMatchObject(answer);
}

it('is made from the lists', () => {
  expect(page).toBe(mcpPage());
});

it('shows a refusal as it is', async () => {
  const [{ request, answer } = { request: undefined, answer: {} }] = stepsBelow('Errors');
  const result = await send(request as Request);
  expect(result).toMatchObject({ isError: true });
  expect(answerOf(result)).toEqual(answer);
});

it('has examples that do what they say', async () => {
  const steps = stepsBelow(OPERATOR_HEADING);
  const end = steps.findIndex(({ request }) => request.params['name'] === 'team_destroy');
  expect(end).toBeGreaterThan(0);
  for (const step of steps.slice(0, end)) check(step, await send(step.request));
  const inside = stepsBelow(AGENT_HEADING);
  const answers = await sendFromInside(inside.map(({ request }) => request));
  for (const step of inside) check(step, answers.get(step.request.id) ?? {});
  for (const step of steps.slice(end)) check(step, await send(step.request));
  expect((await daemon.api.call('GET', '/apis/agentiso.dev/v1alpha1/teams')).json().items).toEqual([]);
});

/** By the command `team mcp` in the workspace, a line per message. */
async function sendFromInside(requests: readonly Request[]): Promise<ReadonlyMap<number, object>> {
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'docs', version: '1' } };
  const lines = [
    { jsonrpc: '2.0', id: 0, method: 'initialize', params: hello },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    ...requests,
  ];
  const input = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')).toString('base64');
  const command = `echo ${input} | base64 -d | team mcp`;
  const ran = await client.callTool({ name: 'workspace_exec', arguments: { team: 'tour', agent: 'worker', command } });
  const { stdout = '' } = answerOf(ran) as { stdout?: string };
  const messages = stdout
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as { id: number; result?: object; error?: object }]));
  return new Map(messages.map(({ id, result, error }) => [id, result ?? { isError: true, error }]));
}
