/**
 * The short way of requests on the private socket: those that are plain (request.ts) and ask for objects are read and answered here,
 * for a third of what node:http takes. With the first byte of anything else the connection goes to node:http, and stays there.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { stayAwake, type Wakefulness } from '#lib/stay-awake.ts';
import type { Api } from '../api.ts';
import type { Channel } from '../auth/identified.ts';
import type { Answer } from '../call.ts';
import { afterReading } from '../patience.ts';
import { answerHead } from './answer.ts';
import { plainRequest } from './request.ts';

export interface PlainDoor {
  /** Connections on which nothing is asked go at once, others with their answer. */
  close(): void;
  /** Ends them all, answered or not. */
  cut(): void;
}

export interface PlainOptions {
  readonly api: Pick<Api, 'ask'>;
  readonly channel: Channel;
  /** A connection on which nobody asks is closed after this. */
  readonly idleMs: number;
  /** Hears of every connection on which something was asked. */
  onAsked?(socket: Socket): void;
}

/** Stands before the server's own handling of connections. To be called before anybody else listens to them. */
export function openPlainDoor(server: Server, options: PlainOptions): PlainDoor {
  const [serve] = server.listeners('connection') as ((this: Server, socket: Socket) => void)[];
  if (!serve) throw new Error('a server of node:http listens to its connections');
  server.off('connection', serve);
  const open = new Set<PlainConnection>();
  const awake = stayAwake();
  server.on('connection', (socket: Socket) => {
    const connection = new PlainConnection(
      socket,
      { ...options, awake },
      {
        onUnusual: () => serve.call(server, socket),
        onLeft: () => open.delete(connection),
      },
    );
    open.add(connection);
  });
  return {
    close() {
      for (const connection of open) connection.close();
    },
    cut() {
      for (const connection of open) connection.cut();
    },
  };
}

interface Leaving {
  /** Somebody else goes on with the socket, from the first byte that was not answered. */
  onUnusual(): void;
  /** It is not ours any more. */
  onLeft(): void;
}

interface ConnectionOptions extends PlainOptions {
  /** That of the door: whoever asks next may be somebody else. */
  readonly awake: Wakefulness;
}

class PlainConnection {
  readonly #socket: Socket;
  readonly #options: ConnectionOptions;
  readonly #leaving: Leaving;
  readonly #idleSeconds: number;
  /** A request is being answered. */
  #isBusy = false;
  /** What came after it. */
  #next: Buffer | undefined;
  /** No request comes after this one: the client has said so, or the server closes. */
  #isLast = false;

  constructor(socket: Socket, options: ConnectionOptions, leaving: Leaving) {
    this.#socket = socket;
    this.#options = options;
    this.#leaving = leaving;
    this.#idleSeconds = Math.floor(options.idleMs / 1_000);
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('timeout', this.#onTimeout);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
    socket.setTimeout(options.idleMs);
  }

  close(): void {
    this.#isLast = true;
    if (!this.#isBusy) this.#socket.destroy();
  }

  cut(): void {
    this.#socket.destroy();
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isBusy) {
      this.#next = this.#next ? Buffer.concat([this.#next, bytes]) : bytes;
      // One request at a time, and no more than one reading ahead.
      this.#socket.pause();
    } else this.#take(bytes);
  };

  #take(bytes: Buffer): void {
    const request = plainRequest(bytes);
    const answer = request && this.#options.api.ask(request, this.#options.channel);
    if (!answer) {
      this.#handOver(bytes);
      return;
    }
    this.#isBusy = true;
    this.#options.awake.heard();
    this.#options.onAsked?.(this.#socket);
    if (answer instanceof Promise) answer.then(this.#send).catch(() => this.#socket.destroy());
    else this.#sendNow(answer);
  }

  #sendNow(answer: Answer): void {
    try {
      this.#send(answer);
    } catch {
      // Nothing of it has gone out, and nothing in its place would be an answer.
      this.#socket.destroy();
    }
  }

  readonly #send = (answer: Answer): void => {
    const socket = this.#socket;
    if (socket.destroyed) return;
    const head = answerHead(answer, { isLast: this.#isLast, idleSeconds: this.#idleSeconds });
    const isTaken = typeof answer.body === 'string' ? this.#sendText(head, answer.body) : this.#sendBytes(head, answer.body);
    this.#options.awake.answered();
    if (this.#isLast) socket.end();
    // Who does not read gets no second answer to hold for them.
    else if (isTaken) this.#goOn();
    else socket.once('drain', this.#goOn);
  };

  /** What is plain ASCII, as most is, needs no translation. */
  #sendText(head: string, body: string): boolean {
    return this.#socket.write(head + body, Buffer.byteLength(body) === body.length ? 'latin1' : 'utf8');
  }

  #sendBytes(head: string, body: Buffer): boolean {
    this.#socket.cork();
    this.#socket.write(head, 'latin1');
    const isTaken = this.#socket.write(body);
    this.#socket.uncork();
    return isTaken;
  }

  readonly #goOn = (): void => {
    this.#isBusy = false;
    const next = this.#next;
    if (this.#isLast) this.#socket.end();
    else if (next) {
      this.#next = undefined;
      this.#socket.resume();
      this.#take(next);
    }
  };

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    this.#leave();
    socket.pause();
    socket.unshift(bytes);
    this.#leaving.onUnusual();
    socket.resume();
  }

  readonly #onEnd = (): void => {
    this.#isLast = true;
    if (!this.#isBusy) this.#socket.end();
  };

  readonly #onTimeout = (): void => {
    if (!this.#isBusy) afterReading(this.#socket, { silent: () => this.#socket.destroy() });
  };

  readonly #onError = (): void => {
    this.#socket.destroy();
  };

  readonly #onClose = (): void => this.#leave();

  #leave(): void {
    const socket = this.#socket;
    socket.setTimeout(0);
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('timeout', this.#onTimeout);
    socket.off('close', this.#onClose);
    socket.off('error', this.#onError);
    this.#leaving.onLeft();
  }
}
