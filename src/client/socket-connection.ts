/**
 * Connection over a unix socket without node:http, which takes longer to load than our daemon takes to answer. The same as
 * http-connection.ts in everything that a caller can see.
 */
import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { bodyLines } from './body-lines.ts';
import { BodyQueue } from './body-queue.ts';
import type { ApiRequest, ApiResponse, Connection } from './connection.ts';
import { type HttpTarget, unavailable } from './http-connection.ts';
import { requestText } from './http-request-text.ts';
import type { ResponseHead } from './http-response-head.ts';
import { ResponseReader } from './http-response-reader.ts';
import { onAbort } from './on-abort.ts';
import { SocketPool } from './socket-pool.ts';

export interface SocketTarget extends Pick<HttpTarget, 'name' | 'whenUnavailable'> {
  readonly socketPath: string;
  /** At once; others wait for them. 16 when absent. */
  readonly maxSockets?: number;
}

export function socketConnection(target: SocketTarget): Connection {
  const pool = new SocketPool(target.socketPath, target.maxSockets);
  return {
    name: target.name,
    endpoint: target,
    async request(request) {
      const text = requestText(request);
      try {
        const socket = await pool.take(request.signal);
        return await exchange({ socket, pool, text, request, target });
      } catch (error) {
        throw unavailable(error, target, request.method);
      }
    },
    close: () => pool.close(),
  };
}

interface Exchange {
  readonly socket: Socket;
  readonly pool: SocketPool;
  readonly text: string;
  readonly request: ApiRequest;
  readonly target: SocketTarget;
}

function exchange({ socket, pool, text, request, target }: Exchange): Promise<ApiResponse> {
  const { method, signal } = request;
  const reader = new ResponseReader(method);
  const body = new BodyQueue(socket);
  return new Promise((resolve, reject) => {
    const leave = () => {
      for (const [name, listener] of Object.entries(listeners)) socket.off(name, listener);
      forget();
    };
    const finish = () => {
      leave();
      body.end();
      pool.give(socket, reader.isReusable);
    };
    const fail = (error: unknown) => {
      leave();
      socket.destroy();
      body.end(unavailable(error, target, method));
      reject(error);
    };
    const abort = () => {
      body.drop();
      fail(signal?.reason);
    };
    const proceed = (step: () => void) => {
      const failure = errorOf(step);
      if (reader.head) resolve(answer({ head: reader.head, body, signal }));
      if (reader.isDone) finish();
      else if (failure) fail(failure);
    };
    const hangUp = () => fail(hungUp(reader.head === undefined ? 'socket hang up' : 'aborted'));
    const listeners: Readonly<Record<string, (argument: Buffer) => void>> = {
      data: (bytes) => proceed(() => reader.push(bytes, (piece) => body.push(piece))),
      end: () => {
        proceed(() => reader.end());
        if (!reader.isDone) hangUp();
      },
      error: fail,
      close: hangUp,
    };
    for (const [name, listener] of Object.entries(listeners)) socket.on(name, listener);
    const forget = onAbort(signal, abort);
    if (socket.destroyed) hangUp();
    else if (signal?.aborted) abort();
    else socket.write(text);
  });
}

function errorOf(step: () => void): unknown {
  try {
    step();
    return undefined;
  } catch (error) {
    return error;
  }
}

function hungUp(message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code: 'ECONNRESET' });
}

interface Answer {
  readonly head: ResponseHead;
  readonly body: BodyQueue;
  readonly signal: AbortSignal | undefined;
}

function answer({ head, body, signal }: Answer): ApiResponse {
  return {
    status: head.status,
    headers: head.headers,
    async text() {
      const pieces: Buffer[] = [];
      for await (const piece of body.read()) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    },
    lines: () => bodyLines(characters(body), signal),
    chunks: () => characters(body),
  };
}

/** A character may be cut in two by the pieces. */
async function* characters(body: BodyQueue): AsyncIterable<string> {
  const decoder = new StringDecoder('utf8');
  for await (const piece of body.read()) yield decoder.write(piece);
  yield decoder.end();
}
