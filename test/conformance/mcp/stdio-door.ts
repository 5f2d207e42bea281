/** A door over HTTP to a server that speaks over stdio: one program per session, and every message passes as it is, but for names. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Door } from './door.ts';
import type { Translate } from './names.ts';

export async function openStdioDoor(start: () => Transport, translate: Translate): Promise<Door> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const programs: Transport[] = [];
  const begin = async (): Promise<StreamableHTTPServerTransport> => {
    const program = start();
    const http = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, http),
    });
    http.onmessage = (message) => void program.send(translate(message));
    program.onmessage = (message) => void http.send(message);
    await Promise.all([http.start(), program.start()]);
    programs.push(program);
    return http;
  };
  const server = createServer((request, response) => {
    const known = sessions.get(String(request.headers['mcp-session-id']));
    Promise.resolve(known ?? begin())
      .then((http) => http.handleRequest(request, response))
      .catch((error: Error) => response.writeHead(500).end(error.message));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      await Promise.all(programs.map((program) => program.close()));
      server.closeAllConnections();
      server.close();
    },
  };
}
