/** Our sessions and our HTTP with the tools, resources and prompts that the conformance suite asks for by name. No token: it has none. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentisoError } from '#lib/errors.ts';
import { silentLogger } from '#lib/log.ts';
import { createMcpHttp } from '#mcp/http.ts';
import type { Prompt } from '#mcp/prompt.ts';
import type { Resource } from '#mcp/resource.ts';
import { createSessions } from '#mcp/sessions.ts';
import { defineTool, type Tool } from '#mcp/tool.ts';
import { object, parser, text } from '#protocol/shape.ts';
import { createRates } from '#relay/create-rates.ts';

const said = object({ said: text });
const nothing = object({});
const usual = { title: 'Test', description: 'For tests.', category: 'team_message', isReadOnly: true, output: said } as const;

/** The keywords of JSON Schema that the suite wants to find again. */
const withDefinitions = parser(
  (value, what) => nothing(value, what),
  () => ({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  }),
);

const TOOLS: readonly Tool[] = [
  defineTool({ ...usual, name: 'test_simple_text', input: nothing, run: async () => ({ said: 'This is a simple text response.' }) }),
  defineTool({
    ...usual,
    name: 'test_error_handling',
    input: nothing,
    run: () => Promise.reject(new AgentisoError('Conflict', 'This tool intentionally returns an error')),
  }),
  defineTool({
    ...usual,
    name: 'test_tool_with_progress',
    input: nothing,
    async run(_, { progress }) {
      for (const count of [0, 50, 100]) progress(`${count} of 100`, { of: 100, count });
      return { said: 'done' };
    },
  }),
  defineTool({ ...usual, name: 'json_schema_2020_12_tool', input: withDefinitions, run: async () => ({ said: 'nothing' }) }),
  defineTool({ ...usual, name: 'test_reconnection', input: nothing, run: async () => ({ said: 'still here' }) }),
];

const about = { title: 'Test', description: 'For tests.', mimeType: 'text/plain' } as const;

function fixedResource(uri: string, name: string): Resource {
  return {
    ...about,
    uriTemplate: uri,
    name,
    list: async () => [{ ...about, uri, name }],
    read: async () => 'This is the content of the static text resource.',
    changes: (_, { signal }) => onceBegun(signal),
  };
}

async function* onceBegun(signal: AbortSignal): AsyncIterable<void> {
  yield;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
}

const RESOURCES: readonly Resource[] = [
  fixedResource('test://static-text', 'static-text'),
  fixedResource('test://watched-resource', 'watched-resource'),
  {
    ...about,
    uriTemplate: 'test://template/{id}/data',
    name: 'template',
    mimeType: 'application/json',
    list: async () => [],
    read: async ({ id }) => JSON.stringify({ id, templateTest: true }),
    changes: (_, { signal }) => onceBegun(signal),
  },
];

const needed = (name: string) => ({ name, description: 'For tests.', required: true });

const PROMPTS: readonly Prompt[] = [
  { ...about, name: 'test_simple_prompt', arguments: [], render: async () => 'This is a simple prompt for testing.' },
  {
    ...about,
    name: 'test_prompt_with_arguments',
    arguments: [needed('arg1'), needed('arg2')],
    render: async ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
    complete: async (_, typed) => [`${typed} and more`],
  },
];

export interface FixtureServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startFixtureServer(): Promise<FixtureServer> {
  const sessions = createSessions({
    version: '1.0.0',
    log: silentLogger,
    homes: [],
    rates: createRates(),
    audit: { record() {} },
    workspaces: {} as never,
    tools: TOOLS,
    resources: RESOURCES,
    prompts: PROMPTS,
  });
  const connection = { name: 'none', request: () => Promise.reject(new Error('nobody is asked')), close() {} };
  const http = createMcpHttp({ sessions, connect: () => connection });
  const server = createServer((request, response) => {
    const call = { request, response, caller: { user: 'admin', role: 'admin' }, enter } as const;
    http.serve(call).catch((error: Error) => response.writeHead(500).end(error.message));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      await http.end();
      server.closeAllConnections();
      server.close();
    },
  };
}

function enter(): { readonly signal: AbortSignal; leave(): void } {
  return { signal: new AbortController().signal, leave() {} };
}
