/** Answers as JSON, also to a client that is still sending. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toHttpError } from './http-error.ts';

const LINGER_MS = 2_000;

export interface JsonAnswer {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export function sendJson(response: ServerResponse, { status, body, headers = {} }: JsonAnswer): void {
  const text = toText(body);
  response.writeHead(status, { ...jsonHeaders(text), ...headers });
  response.end(text);
}

export function sendProblem(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  // An answer that has begun cannot become another one: cut it, so that nobody takes it for whole.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const problem = toHttpError(error);
  if (request.complete) sendJson(response, problem);
  else sendAndLinger(request, response, problem);
}

/**
 * A client that still sends its body may not read the answer before it is done, and a connection that is closed with unread bytes in it
 * takes the answer along: so the rest is read and thrown away, for a moment.
 */
function sendAndLinger(request: IncomingMessage, response: ServerResponse, { status, body, headers = {} }: JsonAnswer): void {
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

function toText(body: object): string {
  return `${JSON.stringify(body)}\n`;
}

function jsonHeaders(text: string): Readonly<Record<string, string | number>> {
  return { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
}
