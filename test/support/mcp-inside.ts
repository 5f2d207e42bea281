/**
 * A program that runs in the workspace of an agent and speaks MCP with the client of the MCP project: steps come in as one argument, what
 * each gave goes out as one line of JSON. Bundled by `mcp-agents.ts`, because a workspace has no packages.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { InsideRun, InsideStep } from './mcp-agents.ts';

const LOOK_MS = 20;

function transportOf({ over }: InsideRun, env: NodeJS.ProcessEnv): Transport {
  if (over === 'http' || over === 'http-without-token') {
    const headers = over === 'http' ? { authorization: `Bearer ${env['AGENTISO_AGENT_TOKEN']}` } : {};
    return new StreamableHTTPClientTransport(new URL(`${env['AGENTISO_HTTP_URL']}/mcp`), { requestInit: { headers } });
  }
  // As a client does that was told by the settings alone: with hardly any of its environment.
  if (over === 'settings') {
    const settings = JSON.parse(readFileSync(join(env['HOME'] ?? '', '.config/agentiso/mcp.json'), 'utf8'));
    return new StdioClientTransport(settings.mcpServers.agentiso);
  }
  return new StdioClientTransport({ command: 'team', args: ['mcp'], env: env as Record<string, string> });
}

/** Ends of connections to the agent's socket that its guest has accepted. */
function connections(socket: string): number {
  const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
  return lines.filter((line) => line.endsWith(` ${socket}`) && !line.includes(' 00010000 ')).length;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}

/** Begins to wait, cancels, and looks whether the guest has let go of it. */
async function cancelledWait(client: Client, socket: string): Promise<unknown> {
  // Those of calls before may be just about to go.
  await until(() => connections(socket) === 0);
  const cancel = new AbortController();
  const request = { name: 'wait_for_message', arguments: { from: 'nobody', timeout_seconds: 100 } };
  const waiting = client.callTool(request, undefined, { signal: cancel.signal }).then(
    () => 'answered',
    () => 'cancelled',
  );
  await until(() => connections(socket) === 1);
  cancel.abort('enough');
  const outcome = await waiting;
  await until(() => connections(socket) === 0);
  return { outcome };
}

async function run(client: Client, step: InsideStep, env: NodeJS.ProcessEnv): Promise<unknown> {
  if (step === 'list') return client.listTools();
  if (step === 'cancel a wait') return cancelledWait(client, env['AGENTISO_SOCKET'] ?? '');
  const { name, ...args } = step;
  const startedMs = performance.now();
  const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 150_000 });
  return { ...result, tookMs: Math.round(performance.now() - startedMs) };
}

async function main(asked: InsideRun, env: NodeJS.ProcessEnv): Promise<void> {
  const client = new Client({ name: 'inside', version: '1' });
  await client.connect(transportOf(asked, env));
  const results: unknown[] = [];
  for (const step of asked.steps) results.push(await run(client, step, env));
  await client.close();
  process.stdout.write(`${JSON.stringify(results)}\n`);
}

main(JSON.parse(process.argv[2] ?? ''), process.env).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
