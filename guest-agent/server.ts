/** The guest's end of the control channel: listens, greets, hands requests to the handlers. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { Channel } from '#protocol/channel.ts';
import type { Handlers } from '#protocol/messages.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import type { Guest } from './guest.ts';
import { execHandler } from './handlers/exec.ts';
import { helloHandler } from './handlers/hello.ts';
import { pingHandler } from './handlers/ping.ts';
import { shutdownHandler } from './handlers/shutdown.ts';

const MAX_CONNECTIONS = 64;
const HELLO_MS = 10_000;

export async function listen(guest: Guest, socketPath: string): Promise<Server> {
  const server = createServer((socket) => serve(guest, socket));
  server.maxConnections = MAX_CONNECTIONS;
  // The socket's mode is 0600 from its first moment.
  const umask = process.umask(0o177);
  server.listen(socketPath);
  process.umask(umask);
  await once(server, 'listening');
  return server;
}

function serve(guest: Guest, socket: Socket): void {
  let isGreeted = false;
  const handlers: Handlers = {
    hello: helloHandler(guest, () => {
      isGreeted = true;
      clearTimeout(helloTimer);
    }),
    ping: pingHandler(),
    exec: execHandler(guest),
    shutdown: shutdownHandler(guest),
  };
  const admit = (type: string) => {
    if (!isGreeted && type !== 'hello') throw new ProtocolError('Forbidden', `hello must come before ${type}`);
  };
  const channel = new Channel(socket, { handlers, admit });
  const helloTimer = setTimeout(() => channel.close(new ProtocolError('Timeout', `no hello within ${HELLO_MS} ms`)), HELLO_MS);
  void channel.closed.then(() => clearTimeout(helloTimer));
}
