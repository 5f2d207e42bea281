/** One HTTP request without TLS, passed on over a connection of its own. Nothing that speaks about one connection reaches the other. */
import { type ClientRequest, type IncomingMessage, request as newRequest, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { endToEndHeaders } from '#lib/end-to-end-headers.ts';
import { parseAuthority, type Target } from './names.ts';
import { answer, Refusal } from './refusal.ts';

export interface PlainTarget extends Target {
  /** As it goes to the server: the part behind the name. */
  readonly path: string;
}

const ABSOLUTE = /^http:\/\/([^/?#]+)([^#]*)$/i;
const HTTP_PORT = 80;
export function parsePlainTarget(url: string): PlainTarget {
  const [, authority = '', path = ''] = ABSOLUTE.exec(url) ?? [];
  const target = parseAuthority(authority, HTTP_PORT);
  if (!target) {
    throw new Refusal(400, 'BadRequest', 'this is a proxy: ask for http://name/path, or CONNECT name:443');
  }
  return { ...target, path: path.startsWith('/') ? path : `/${path}` };
}

/** Cuts both connections when one fails half-way: an answer that is not complete must not look so. */
export function forward(request: IncomingMessage, response: ServerResponse, target: PlainTarget, upstream: Socket): void {
  const outgoing = newRequest({
    createConnection: () => upstream,
    method: request.method ?? 'GET',
    path: target.path,
    headers: requestHeaders(request, target),
    setHost: false,
    maxHeaderSize: 64 * 1024,
  });
  outgoing.on('response', (incoming) => passBack(incoming, response));
  // Whatever happened: no answer has come, and none will.
  const onNoAnswer = () => {
    request.resume();
    if (!response.headersSent) answer(response, new Refusal(502, 'BadAnswer', `${target.host} gave no proper answer`));
  };
  outgoing.on('error', onNoAnswer);
  outgoing.on('upgrade', (_, socket) => {
    socket.destroy();
    onNoAnswer();
  });
  response.on('close', () => outgoing.destroy());
  sendBody(request, outgoing);
}

function sendBody(request: IncomingMessage, outgoing: ClientRequest): void {
  const hasBody = request.headers['transfer-encoding'] !== undefined || request.headers['content-length'] !== undefined;
  if (!hasBody) {
    outgoing.end();
    return;
  }
  request.pipe(outgoing);
  request.on('error', () => outgoing.destroy());
}

function passBack(incoming: IncomingMessage, response: ServerResponse): void {
  try {
    response.writeHead(incoming.statusCode ?? 502, { ...endToEndHeaders(incoming), connection: 'close' });
  } catch {
    // A header that may be received but not sent.
    incoming.destroy();
    answer(response, new Refusal(502, 'BadAnswer', 'the answer has a header that cannot be passed on'));
    return;
  }
  pipeline(incoming, response, (error) => {
    if (error) response.destroy();
  });
}

function requestHeaders(request: IncomingMessage, target: PlainTarget): Record<string, string | string[]> {
  // The name that was checked is the name that is asked, whatever the request said beside it.
  const headers: Record<string, string | string[]> = { ...endToEndHeaders(request), host: authorityOf(target), connection: 'close' };
  // A body that came in chunks goes on in chunks, whatever the method: without them its end would be a matter of opinion.
  if (request.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
  return headers;
}

function authorityOf({ host, port }: Target): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === HTTP_PORT ? name : `${name}:${port}`;
}
