/** Connection over HTTP/1.1: a unix socket or an address, with keep-alive, so that several requests share one handshake. */
import type { Agent, ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { messageOf, UnavailableError } from '#lib/errors.ts';
import { bodyLines } from './body-lines.ts';
import type { ApiRequest, ApiResponse, Connection, Endpoint, TlsOptions } from './connection.ts';

/** A path in its URL goes before every request's. */
export interface HttpTarget extends Endpoint {
  /** For messages. */
  readonly name: string;
}

/** Many objects asked for at once wait for each other instead of for the server's patience. */
const SOCKETS = { keepAlive: true, maxSockets: 16 };

type Send = (options: RequestOptions, onResponse: (response: IncomingMessage) => void) => ClientRequest;

export async function httpConnection(target: HttpTarget): Promise<Connection> {
  const url = new URL(target.url ?? 'http://localhost');
  const { send, agent } = url.protocol === 'https:' ? await secure(target.tls ?? {}) : await plain();
  const base: RequestOptions = target.socketPath
    ? // An empty server name spares the search for one, which only TLS needs.
      ({ socketPath: target.socketPath, servername: '', agent } as RequestOptions)
    : // A URL keeps the brackets of an IPv6 address; a socket does not want them.
      { host: url.hostname.replace(/^\[|\]$/g, ''), ...(url.port ? { port: Number(url.port) } : {}), agent };
  const prefix = url.pathname.replace(/\/$/, '');
  return {
    name: target.name,
    endpoint: target,
    request: (request) => exchange({ send, options: requestOptions(base, prefix, target, request), request, target }),
    close: () => agent.destroy(),
  };
}

/** Only what a server elsewhere needs loads the TLS code. */
async function secure(tls: TlsOptions): Promise<{ send: Send; agent: Agent }> {
  const https = await import('node:https');
  return { send: https.request, agent: new https.Agent({ ...SOCKETS, ...nodeTls(tls) }) };
}

/** In node's words. */
export function nodeTls({ ca, cert, key, servername, isUnverified }: TlsOptions) {
  return {
    rejectUnauthorized: isUnverified !== true,
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
    ...(servername ? { servername } : {}),
  };
}

async function plain(): Promise<{ send: Send; agent: Agent }> {
  const http = await import('node:http');
  return { send: http.request, agent: new http.Agent(SOCKETS) };
}

function requestOptions(base: RequestOptions, prefix: string, target: HttpTarget, request: ApiRequest): RequestOptions {
  const body = request.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(request.body)) };
  return {
    ...base,
    method: request.method,
    path: `${prefix}${request.path}`,
    headers: { accept: 'application/json', ...target.headers, ...request.headers, ...body },
    ...(request.signal ? { signal: request.signal } : {}),
  };
}

interface Exchange {
  readonly send: Send;
  readonly options: RequestOptions;
  readonly request: ApiRequest;
  readonly target: HttpTarget;
}

function exchange({ send, options, request, target }: Exchange): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    const sent = send(options, (response) => resolve(answer(response, request, target)));
    sent.on('error', (error) => reject(unavailable(error, target, request.method)));
    sent.end(request.body);
  });
}

function answer(response: IncomingMessage, request: ApiRequest, target: HttpTarget): ApiResponse {
  response.setEncoding('utf8');
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    async text() {
      let text = '';
      for await (const chunk of chunks(response, request, target)) text += chunk;
      return text;
    },
    lines: () => bodyLines(chunks(response, request, target), request.signal),
    chunks: () => chunks(response, request, target),
  };
}

async function* chunks(response: IncomingMessage, { method, signal }: ApiRequest, target: HttpTarget): AsyncIterable<string> {
  try {
    for await (const chunk of response) yield String(chunk);
  } catch (error) {
    if (signal?.aborted) return;
    throw unavailable(error, target, method);
  }
}

/** A connection that broke when something had been sent over it. */
const LOST = ['ECONNRESET', 'EPIPE'];

export function unavailable(error: unknown, { name, whenUnavailable }: HttpTarget, method: ApiRequest['method']): UnavailableError {
  const cause = error as NodeJS.ErrnoException;
  const message = whenUnavailable?.(cause) ?? `Unable to connect to the server: ${name}: ${messageOf(error)}`;
  const isUnknown = method !== 'GET' && LOST.includes(cause?.code ?? '');
  return new UnavailableError(message, { cause, ...(isUnknown && { hint: OUTCOME_UNKNOWN }) });
}

/** It may have been done, and its answer lost: whoever just asks again may do it twice. */
const OUTCOME_UNKNOWN = 'it may have done what you asked for before that: look before you ask again';
