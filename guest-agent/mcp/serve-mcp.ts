/**
 * MCP over HTTP, without sessions: each POST is answered by itself, as JSON, or as a stream of events once there is progress to tell. The
 * word that `initialize` hands out as a session serves to find calls that are cancelled, and to know whose mail is acknowledged.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { readerOf } from '../agent-socket/readers.ts';
import type { VerbService } from '../agent-socket/verb-service.ts';
import { MAX_ASKED_BYTES, readJson } from '../http/body.ts';
import { HttpError } from '../http/http-error.ts';
import { sendJson } from '../http/reply.ts';
import { lazy } from '../lazy-modules.ts';
import { answerMessages, type Client } from './answer-messages.ts';
import { CallsInFlight } from './calls-in-flight.ts';
import { readHead, type Wishes } from './http-rules.ts';
import { isFields, PARSE_ERROR, toErrorResponse } from './json-rpc.ts';

/** Of all doors: who comes by one may cancel by the other. */
const calls = new CallsInFlight();

export async function serveMcp(service: VerbService, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') {
    const body = { code: 'MethodNotAllowed', message: `mcp does not take ${request.method}`, hint: 'it takes POST' };
    throw new HttpError(405, body, { allow: 'POST' });
  }
  const head = readHead({ headers: request.headers, localAddress: request.socket.localAddress });
  const client = new AbortController();
  // Also after the answer is complete: then nobody listens any more.
  response.once('close', () => client.abort(new Error('the client has hung up')));
  const events = new EventStream(response);
  const value = await readMessages(request, response);
  if (value === undefined) return;
  await answer(
    value,
    { service, calls, ...head, reader: readerOf(request, head.session), signal: client.signal },
    { response, events, head },
  );
}

interface Way {
  readonly response: ServerResponse;
  readonly events: EventStream;
  readonly head: Wishes;
}

async function answer(value: unknown, client: Omit<Client, 'notify'>, { response, events, head }: Way): Promise<void> {
  const { message, onSent } = await answerMessages(value, {
    ...client,
    ...(head.canReadStream && { notify: (each) => events.send(each) }),
  });
  if (client.signal.aborted) return;
  if (onSent !== undefined) response.once('finish', onSent);
  if (message !== undefined && !head.canReadJson) events.send(message);
  else if (message !== undefined && events.hasBegun) events.send(message);
  else if (message !== undefined) return sendJson(response, { status: 200, body: message, headers: sessionHeader(value) });
  if (events.hasBegun) response.end();
  else response.writeHead(202, { 'content-length': 0 }).end();
}

/** Undefined: it was answered. */
async function readMessages(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  try {
    return await readJson(request, MAX_ASKED_BYTES);
  } catch (error) {
    if (!(error instanceof ProtocolError && error.code === 'Invalid')) throw error;
    sendJson(response, { status: 400, body: toErrorResponse(null, PARSE_ERROR, error.message) });
    return undefined;
  }
}

function sessionHeader(value: unknown): Readonly<Record<string, string>> {
  const isGreeting = isFields(value) && value['method'] === 'initialize';
  return isGreeting ? { 'mcp-session-id': lazy.crypto.randomUUID() } : {};
}

/** Begun by its first event: an answer that comes alone is plain JSON. */
class EventStream {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  send(message: object): void {
    if (!this.hasBegun) this.#response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    this.#response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }
}
