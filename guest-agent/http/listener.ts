/** A listening HTTP server with bounds: connections, headers, and how long a request may take to arrive. */
import { once } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { lazy } from '../lazy-modules.ts';
import { listenAlone, type Place } from '../listen-alone.ts';

const MAX_CONNECTIONS = 64;
/** Those above are told so and closed; beyond these they are only closed. */
const MAX_WITH_REFUSED = 128;
const MAX_ACCEPT_ERRORS = 10;

export interface ListenerOptions {
  /** Where to: an address and a port, or the path of a unix socket, which is open to its owner alone. */
  readonly at: Place;
  /** A connection on which nothing moves for so long is closed. */
  readonly idleMs?: number;
  readonly onRequest: RequestListener;
  /** It accepts no more connections: listen again. */
  readonly onBroken: (error: Error) => void;
}

export interface Listener {
  close(): Promise<void>;
}

/**
 * Rejects when it cannot be bound. Node's HTTP is loaded with the first connection: it would be most of what it costs to configure a guest, and
 * nobody comes to many of them.
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  // As HTTP has its connections.
  const door = createServer({ allowHalfOpen: true, noDelay: true });
  door.maxConnections = MAX_WITH_REFUSED;
  let server: Server | undefined;
  const refused = new WeakSet<Socket>();
  door.on('connection', (socket) => {
    server ??= speakHttp(options, refused);
    server.emit('connection', socket);
  });
  boundConnections(door, refused);
  bind(door, options.at);
  await once(door, 'listening');
  watchAccept(door, options.onBroken);
  return { close: () => close(door, server) };
}

/** Takes the connections that it is given. */
function speakHttp({ idleMs = 60_000, onRequest }: ListenerOptions, refused: WeakSet<Socket>): Server {
  const server = lazy.http.createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 120_000,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: 10_000,
  });
  server.maxHeadersCount = 64;
  server.timeout = idleMs;
  server.on('request', (request, response) => {
    if (!refused.has(request.socket)) onRequest(request, response);
  });
  // With this it begins to look how long requests take, as it does where it listens itself.
  server.emit('listening');
  return server;
}

function bind(door: NetServer, at: Place): void {
  if ('port' in at) {
    listenAlone(door, at);
    return;
  }
  // The socket's mode is 0600 from its first moment: it is bound before the call returns.
  const umask = process.umask(0o177);
  try {
    listenAlone(door, at);
  } finally {
    process.umask(umask);
  }
}

function boundConnections(door: NetServer, refused: WeakSet<Socket>): void {
  let open = 0;
  door.on('connection', (socket: Socket) => {
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
}

const BODY = `${JSON.stringify({ code: 'Unavailable', message: `${MAX_CONNECTIONS} connections are open`, retryable: true, hint: 'try again a little later' })}\n`;
const TOO_MANY = `HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\nconnection: close\r\n\r\n${BODY}`;

function watchAccept(door: NetServer, onBroken: (error: Error) => void): void {
  let errorsInARow = 0;
  door.on('connection', () => {
    errorsInARow = 0;
  });
  door.on('error', (error) => {
    errorsInARow += 1;
    if (errorsInARow === MAX_ACCEPT_ERRORS) onBroken(error);
  });
}

async function close(door: NetServer, server: Server | undefined): Promise<void> {
  if (!door.listening) return;
  const closed = once(door, 'close');
  door.close();
  server?.close();
  server?.closeAllConnections();
  await closed;
}
