/**
 * One keep-alive connection over a unix socket, one request at a time. Not node:http, because what the client costs is in every
 * measured value, the floor's as well as ours, and would hide how the servers differ.
 */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { BenchError } from '../harness/operation.ts';
import { readingSocket } from './reading-socket.ts';
import { parseHead, type ResponseHead } from './response.ts';

export interface Reply {
  readonly status: number;
  readonly length: number;
  /** Put together when asked for, so that nobody's time is spent on it. */
  body(): Buffer;
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

export class HttpClient {
  readonly #socket: Socket;
  #waiting: Waiting | undefined;
  #chunks: Buffer[] = [];
  #received = 0;
  #head: ResponseHead | undefined;

  private constructor(socketPath: string) {
    const socket = readingSocket(socketPath, (bytes) => this.#arrived(Buffer.from(bytes)));
    this.#socket = socket;
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new BenchError('the server closed the connection')));
  }

  static async connect(socketPath: string): Promise<HttpClient> {
    const client = new HttpClient(socketPath);
    await once(client.#socket, 'connect');
    return client;
  }

  /** `request` comes from formatRequest. */
  exchange(request: string | Buffer): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #arrived(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    if (this.#head === undefined) {
      if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
      this.#head = parseHead(this.#chunks[0] as Buffer);
      if (this.#head === undefined) return;
    }
    const { status, bodyStart, contentLength } = this.#head;
    if (contentLength === undefined) {
      this.#fail(new BenchError(`an answer of unknown length with status ${status}`));
      return;
    }
    if (this.#received < bodyStart + contentLength) return;
    this.#complete(status, bodyStart, contentLength);
  }

  #complete(status: number, bodyStart: number, length: number): void {
    const chunks = this.#chunks;
    const waiting = this.#waiting;
    this.#chunks = [];
    this.#received = 0;
    this.#head = undefined;
    this.#waiting = undefined;
    waiting?.resolve({ status, length, body: () => Buffer.concat(chunks).subarray(bodyStart, bodyStart + length) });
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }
}

/** Throws unless the answer is 200 or 201. */
export function checked(reply: Reply): Reply {
  if (reply.status === 200 || reply.status === 201) return reply;
  throw new BenchError(`the API answered ${reply.status}: ${reply.body().toString().slice(0, 300)}`);
}
