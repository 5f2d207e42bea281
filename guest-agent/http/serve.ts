/** From a request to its answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { IDLE_MS } from '../agent-socket/agent-door.ts';
import { GUEST_VERSION } from '../version.ts';
import { type Caller, identify, isWithin, type Settings } from './caller.ts';
import { sendFile, storeFile } from './file-routes.ts';
import type { HttpParts } from './http-door.ts';
import { HttpError } from './http-error.ts';
import { createTask, type Exchange, type Reply, readMessages, sendMessage } from './message-routes.ts';
import { sendJson, sendProblem } from './reply.ts';
import { findRoute, type Route } from './routes.ts';

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
    if (reply !== undefined) sendJson(response, reply);
  } catch (error) {
    sendProblem(request, response, error);
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
    case 'mcp':
      await serveOwnMcp(parts, request, response);
      return undefined;
  }
}

/** For the programs of this workspace: even the agent's own token does not open it to others. */
async function serveOwnMcp({ verbs }: HttpParts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!isWithin(request.socket)) {
    throw new HttpError(403, { code: 'Forbidden', message: 'mcp is for programs of this workspace', hint: 'use it from there' });
  }
  response.setTimeout(IDLE_MS);
  const { serveMcp } = await import('../mcp/serve-mcp.ts');
  await serveMcp(verbs.get(), request, response);
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
