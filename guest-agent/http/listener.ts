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
  readonly address: string;
  readonly port: number;
  readonly onRequest: RequestListener;
  /** It accepts no more connections: listen again. */
  readonly onBroken: (error: Error) => void;
}

export interface Listener {
  readonly address: string;
  close(): Promise<void>;
}

/** Rejects when the address cannot be bound. */
export async function listen({ address, port, onRequest, onBroken }: ListenerOptions): Promise<Listener> {
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 120_000,
    keepAliveTimeout: 5_000,
    connectionsCheckingInterval: 10_000,
  });
  server.maxHeadersCount = 64;
  server.timeout = 60_000;
  server.maxConnections = MAX_WITH_REFUSED;
  boundConnections(server, onRequest);
  server.listen({ host: address, port, backlog: BACKLOG });
  await once(server, 'listening');
  watchAccept(server, onBroken);
  return { address, close: () => close(server) };
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
