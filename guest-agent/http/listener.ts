/** A listening HTTP server with bounds: connections, headers, and how long a request may take to arrive. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';

const MAX_CONNECTIONS = 64;
/** Those above are told so and closed; beyond these they are only closed. */
const MAX_WITH_REFUSED = 128;
const BACKLOG = 128;
const MAX_ACCEPT_ERRORS = 10;

export interface ListenerOptions {
  /** Where to: an address and a port, or the path of a unix socket, which is open to its owner alone. */
  readonly at: { readonly host: string; readonly port: number } | { readonly path: string };
  /** A connection on which nothing moves for so long is closed. */
  readonly idleMs?: number;
  readonly onRequest: RequestListener;
  /** It accepts no more connections: listen again. */
  readonly onBroken: (error: Error) => void;
}

export interface Listener {
  close(): Promise<void>;
}

/** Rejects when it cannot be bound. */
export async function listen({ at, idleMs = 60_000, onRequest, onBroken }: ListenerOptions): Promise<Listener> {
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 120_000,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: 10_000,
  });
  server.maxHeadersCount = 64;
  server.timeout = idleMs;
  server.maxConnections = MAX_WITH_REFUSED;
  boundConnections(server, onRequest);
  bind(server, at);
  await once(server, 'listening');
  watchAccept(server, onBroken);
  return { close: () => close(server) };
}

function bind(server: Server, at: ListenerOptions['at']): void {
  if ('port' in at) {
    server.listen({ ...at, backlog: BACKLOG });
    return;
  }
  // The socket's mode is 0600 from its first moment: it is bound before the call returns.
  const umask = process.umask(0o177);
  try {
    server.listen({ ...at, backlog: BACKLOG });
  } finally {
    process.umask(umask);
  }
}

function boundConnections(server: Server, onRequest: RequestListener): void {
  const refused = new WeakSet<Socket>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    open += 1;
    socket.once('close', () => {
      open -= 1;
    });
    if (open <= MAX_CONNECTIONS) return;
    refused.add(socket);
    socket.end(TOO_MANY);
    // The peer has its answer when it has hung up, or has had its time.
    socket.setTimeout(1_000, () => socket.destroy());
  });
  server.on('request', (request, response) => {
    if (!refused.has(request.socket)) onRequest(request, response);
  });
}

const BODY = `${JSON.stringify({ code: 'Unavailable', message: `${MAX_CONNECTIONS} connections are open`, retryable: true, hint: 'try again a little later' })}\n`;
const TOO_MANY = `HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\nconnection: close\r\n\r\n${BODY}`;

function watchAccept(server: Server, onBroken: (error: Error) => void): void {
  let errorsInARow = 0;
  server.on('connection', () => {
    errorsInARow = 0;
  });
  server.on('error', (error) => {
    errorsInARow += 1;
    if (errorsInARow === MAX_ACCEPT_ERRORS) onBroken(error);
  });
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
