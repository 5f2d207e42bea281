/** Real clients of MCP on a daemon: over stdio as programs are started, over the private socket, and over HTTPS with a token. */
import { request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { socketPath } from '#lib/socket-path.ts';
import type { Server } from './daemon.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'agentiso.js');

/** `agentiso mcp`, of the built program. */
export function stdioTransport(home: string): StdioClientTransport {
  return new StdioClientTransport({ command: process.execPath, args: [PROGRAM, 'mcp', '--home', home], stderr: 'pipe' });
}

/** HOME/mcp.sock, without a program in between. */
export function socketTransport(home: string): Transport {
  const socket = connect({ path: socketPath(join(home, 'mcp.sock')).path });
  const buffer = new ReadBuffer({ maxBufferSize: 64 * 1024 * 1024 });
  const transport: Transport = {
    async start() {
      socket.on('data', (chunk: Buffer) => {
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message; message = buffer.readMessage()) transport.onmessage?.(message);
      });
      socket.on('error', (error) => transport.onerror?.(error));
      socket.on('close', () => transport.onclose?.());
    },
    async send(message: JSONRPCMessage) {
      socket.write(serializeMessage(message));
    },
    async close() {
      socket.destroy();
    },
  };
  return transport;
}

/** `/mcp` over HTTPS. */
export function httpTransport(server: Server, token = server.token): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
    fetch: fetchFrom(server),
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
}

/** Connects; the caller closes. */
export async function mcpClient(transport: Transport, name = 'test'): Promise<Client> {
  const client = new Client({ name, version: '1.0.0' });
  await client.connect(transport);
  return client;
}

/** The one text that a result ends with, as JSON. */
export function answerOf(result: object): Record<string, unknown> {
  const { content } = result as { readonly content: readonly { readonly text: string }[] };
  return JSON.parse(content.at(-1)?.text ?? 'null') as Record<string, unknown>;
}

/** As `fetch`, for a server whose certificate only its kubeconfig knows. */
export function fetchFrom({ ca }: Pick<Server, 'ca'>) {
  return (url: string | URL, init: RequestInit = {}): Promise<Response> =>
    new Promise((resolve, reject) => {
      const headers = Object.fromEntries(new Headers(init.headers).entries());
      const sent = request(url, {
        method: init.method ?? 'GET',
        headers,
        ca,
        servername: 'localhost',
        agent: false,
        ...(init.signal && { signal: init.signal }),
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        const isEmpty = [202, 204, 304].includes(response.statusCode ?? 0);
        if (isEmpty) response.resume();
        const body = isEmpty ? null : (Readable.toWeb(response) as ReadableStream);
        const given = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
        resolve(new Response(body, { status: response.statusCode ?? 0, headers: given }));
      });
      sent.end(init.body as string | undefined);
    });
}
