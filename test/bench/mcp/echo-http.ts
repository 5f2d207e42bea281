/** The echo server over HTTP, without TLS and without a token. Bundled. Argument: a file for its port. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { makeEchoServer } from './echo-server.ts';

const [portFile = ''] = process.argv.slice(2);
const transports = new Map<string, StreamableHTTPServerTransport>();

async function begin(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void transports.set(id, transport),
  });
  // Its types and those of its own interface differ in what may be undefined.
  await makeEchoServer().connect(transport as Parameters<ReturnType<typeof makeEchoServer>['connect']>[0]);
  return transport;
}

// The client's connection waits for its next turn, however long the others take.
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  const known = transports.get(String(request.headers['mcp-session-id']));
  Promise.resolve(known ?? begin())
    .then((transport) => transport.handleRequest(request, response))
    .catch((error: Error) => response.writeHead(500).end(error.message));
});
server.listen(0, '127.0.0.1', () => {
  writeFileSync(portFile, String((server.address() as AddressInfo).port));
  process.stdout.write('ready\n');
});
process.on('SIGTERM', () => process.exit(0));
