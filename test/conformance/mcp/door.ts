/**
 * A door without TLS and token in front of a server that wants both: the conformance suite speaks plain HTTP and has no token. All else
 * passes as it is, but for the names that the suite uses, which are translated.
 */
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Translate } from './names.ts';

export interface Door {
  readonly url: string;
  close(): Promise<void>;
}

export interface DoorTarget {
  readonly url: string;
  readonly token: string;
  /** Of a server with a certificate of its own. */
  readonly ca?: string;
  readonly translate: Translate;
}

export async function openDoor(target: DoorTarget): Promise<Door> {
  const server = createServer((request, response) => {
    pass(target, request, response).catch((error: Error) => response.writeHead(502).end(error.message));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function pass({ url, token, ca, translate }: DoorTarget, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = translated(await bodyOf(request), translate);
  const { 'transfer-encoding': _, ...given } = request.headers;
  const headers = {
    ...given,
    authorization: `Bearer ${token}`,
    // Whoever asks by the name of this door asks by its scheme too.
    ...(given.origin !== undefined && ca !== undefined && { origin: given.origin.replace('http:', 'https:') }),
    ...(body.length > 0 && { 'content-length': body.length }),
  };
  const send = ca === undefined ? httpRequest : httpsRequest;
  const sent = send(url, {
    method: request.method ?? 'GET',
    headers,
    agent: false,
    ...(ca !== undefined && { ca, servername: 'localhost' }),
  });
  sent.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  sent.on('error', () => response.destroy());
  response.on('close', () => sent.destroy());
  sent.end(body);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function translated(body: Buffer, translate: Translate): Buffer {
  return body.length === 0 ? body : Buffer.from(JSON.stringify(translate(JSON.parse(body.toString('utf8')))));
}
