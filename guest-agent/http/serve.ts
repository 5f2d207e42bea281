/** From a request to its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { GUEST_VERSION } from '../version.ts';
import { type Caller, identify, type Settings } from './caller.ts';
import { sendFile, storeFile } from './file-routes.ts';
import type { HttpParts } from './http-door.ts';
import { HttpError, toHttpError } from './http-error.ts';
import { createTask, type Exchange, type Reply, readMessages, sendMessage } from './message-routes.ts';
import { findRoute, type Route } from './routes.ts';

const LINGER_MS = 2_000;

export interface Served {
  readonly parts: HttpParts;
  readonly settings: Settings;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export async function serve(served: Served): Promise<void> {
  const { request, response } = served;
  try {
    const reply = await answer(served);
    if (reply !== undefined) send(response, reply.status, reply.body);
  } catch (error) {
    fail(request, response, error);
  }
}

async function answer({ parts, settings, request, response }: Served): Promise<Reply | undefined> {
  const route = findRoute(request.method ?? '', request.url ?? '');
  if (route.access === 'anyone') return health(parts);
  const caller = identify(settings, { authorization: request.headers.authorization, address: request.socket.remoteAddress });
  checkAccess(route, caller);
  const exchange: Exchange = { parts, request, route, caller, self: ownName(settings, parts) };
  switch (route.name) {
    case 'health':
      return health(parts);
    case 'card':
      return { status: 200, body: settings.card };
    case 'readMessages':
      return readMessages(exchange);
    case 'sendMessage':
      return sendMessage(exchange);
    case 'createTask':
      return createTask(exchange);
    case 'writeFile':
      return storeFile(exchange);
    case 'readFile':
      await sendFile(exchange, response);
      return undefined;
  }
}

function health({ guest }: HttpParts): Reply {
  if (guest.groups.isClosed)
    throw new HttpError(503, { code: 'Unavailable', message: 'the agent is stopping', hint: 'it will not come back', retryable: true });
  return { status: 200, body: { status: 'ready', version: GUEST_VERSION, uptime_secs: Math.floor(process.uptime()) } };
}

function checkAccess({ access, name }: Route, caller: Caller): void {
  if (access !== 'self' || caller.kind === 'self') return;
  throw new HttpError(403, { code: 'Forbidden', message: `${name} is for the agent itself`, hint: "use the agent's own token" });
}

function ownName({ card }: Settings, { guest }: HttpParts): string {
  return typeof card['name'] === 'string' ? card['name'] : guest.id;
}

function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // An answer that has begun cannot become another one: cut it, so that nobody takes it for whole.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { status, body, headers } = toHttpError(error);
  if (request.complete) send(response, status, body, headers);
  else sendAndLinger(request, response, { status, body, headers });
}

/**
 * A client that still sends its body may not read the answer before it is done, and a connection that is closed with unread bytes in it
 * takes the answer along: so the rest is read and thrown away, for a moment.
 */
function sendAndLinger(
  request: IncomingMessage,
  response: ServerResponse,
  { status, body, headers }: Reply & Pick<HttpError, 'headers'>,
): void {
  const text = toText(body);
  response.writeHead(status, { ...jsonHeaders(text), ...headers, connection: 'close' });
  response.write(text);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.once('close', end);
  request.once('end', end);
  request.resume();
}

function send(response: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  const text = toText(body);
  response.writeHead(status, { ...jsonHeaders(text), ...headers });
  response.end(text);
}

function toText(body: object): string {
  return `${JSON.stringify(body)}\n`;
}

function jsonHeaders(text: string): Readonly<Record<string, string | number>> {
  return { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
}
