/** Opens a WebSocket at a server of the API, over its unix socket or HTTPS, with what a request to it would show. */
import { randomBytes } from 'node:crypto';
import { type IncomingMessage, request as plainRequest, type RequestOptions } from 'node:http';
import { request as secureRequest } from 'node:https';
import { UnavailableError } from '#lib/errors.ts';
import { acceptOf } from '#lib/websocket/accept.ts';
import type { Connection, Endpoint } from '../connection.ts';
import { nodeTls, unavailable } from '../http-connection.ts';
import { statusErrorOf } from '../status-error.ts';
import { ClientSocket } from './socket.ts';

/** The whole of a Status. */
const MAX_REFUSAL_BYTES = 64 * 1024;

export interface OpenOptions {
  /** With the query, encoded. */
  readonly path: string;
  /** In the order of preference. */
  readonly protocols: readonly string[];
  readonly signal: AbortSignal;
}

/** Rejects with a StatusError when the server refuses, UnavailableError when nobody answers. */
export async function openWebSocket(connection: Connection, { path, protocols, signal }: OpenOptions): Promise<ClientSocket> {
  const { endpoint, name } = connection;
  if (!endpoint) throw new UnavailableError(`${name} has no address to connect to`);
  const key = randomBytes(16).toString('base64');
  const headers = {
    ...endpoint.headers,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
    'sec-websocket-protocol': protocols.join(', '),
  };
  const { send, options } = requestOf(endpoint, path);
  return new Promise((resolve, reject) => {
    const request = send({ ...options, method: 'GET', headers, signal });
    request.on('upgrade', (response, socket, head) => {
      const { 'sec-websocket-accept': accept, 'sec-websocket-protocol': protocol = '' } = response.headers;
      if (accept === acceptOf(key) && protocols.includes(protocol)) {
        resolve(new ClientSocket(socket, head, protocol));
      } else {
        socket.destroy();
        reject(new UnavailableError(`${name} answered with something that is not a WebSocket of ours`));
      }
    });
    request.on('response', (response) => refusal(response).then(reject, reject));
    request.on('error', (error) => reject(unavailable(error, { ...endpoint, name }, 'GET')));
    request.end();
  });
}

function requestOf({ socketPath, url = 'http://localhost', tls = {} }: Endpoint, path: string) {
  if (socketPath) return { send: plainRequest, options: { socketPath, path, host: 'localhost' } satisfies RequestOptions };
  const { protocol, hostname, port, pathname } = new URL(url);
  const options: RequestOptions = {
    host: hostname.replace(/^\[|\]$/g, ''),
    ...(port ? { port: Number(port) } : {}),
    path: `${pathname.replace(/\/$/, '')}${path}`,
  };
  return protocol === 'https:' ? { send: secureRequest, options: { ...options, ...nodeTls(tls) } } : { send: plainRequest, options };
}

async function refusal(response: IncomingMessage): Promise<Error> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_REFUSAL_BYTES) break;
  }
  return statusErrorOf(response.statusCode ?? 0, text);
}
