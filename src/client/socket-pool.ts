/** Connections to one unix socket, used again and again, and never more than a few at once. */
import { connect, type Socket } from 'node:net';
import { onAbort } from './on-abort.ts';

/** Many objects asked for at once wait for each other instead of for the server's patience. */
const MAX_SOCKETS = 16;
/** Sooner than any server hangs up, so that no request meets one that does. */
const MAX_IDLE_MS = 2_000;

interface Waiter {
  readonly resolve: (socket: Socket) => void;
  readonly reject: (error: Error) => void;
}

export class SocketPool {
  readonly #path: string;
  readonly #maxSockets: number;
  readonly #all = new Set<Socket>();
  /** With the time since when. */
  readonly #idle = new Map<Socket, number>();
  #waiting: Waiter[] = [];

  constructor(path: string, maxSockets = MAX_SOCKETS) {
    this.#path = path;
    this.#maxSockets = maxSockets;
  }

  /** Rejects with the signal's reason when it aborts before there is one. */
  async take(signal: AbortSignal | undefined): Promise<Socket> {
    signal?.throwIfAborted();
    const socket = this.#takeIdle() ?? (this.#all.size < this.#maxSockets ? this.#open() : undefined);
    return socket ?? this.#wait(signal);
  }

  give(socket: Socket, isReusable: boolean): void {
    if (!isReusable || socket.destroyed) {
      socket.destroy();
      return;
    }
    const waiter = this.#waiting.shift();
    if (waiter) {
      waiter.resolve(socket);
      return;
    }
    socket.unref();
    this.#idle.set(socket, Date.now());
  }

  close(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(new Error('the connection was closed'));
    const idle = [...this.#idle.keys()];
    this.#idle.clear();
    for (const socket of this.#all) if (!idle.includes(socket)) socket.destroy();
    // They keep nobody from ending, and a program that ends now does it sooner without.
    setImmediate(() => {
      for (const socket of idle) socket.destroy();
    }).unref();
  }

  #takeIdle(): Socket | undefined {
    for (const [socket, since] of this.#idle) {
      this.#idle.delete(socket);
      if (socket.writable && !socket.readableEnded && Date.now() - since < MAX_IDLE_MS) return socket.ref();
      socket.destroy();
    }
    return undefined;
  }

  #open(): Socket {
    const socket = connect({ path: this.#path });
    this.#all.add(socket);
    // Whoever uses it listens as well; while nobody does, its end is all that counts.
    socket.on('error', () => {});
    socket.on('data', () => {
      if (this.#idle.has(socket)) socket.destroy();
    });
    socket.on('close', () => {
      this.#all.delete(socket);
      this.#idle.delete(socket);
      if (this.#all.size < this.#maxSockets) this.#waiting.shift()?.resolve(this.#open());
    });
    return socket;
  }

  #wait(signal: AbortSignal | undefined): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        resolve(socket) {
          forget();
          resolve(socket);
        },
        reject,
      };
      this.#waiting.push(waiter);
      const forget = onAbort(signal, () => {
        this.#waiting = this.#waiting.filter((each) => each !== waiter);
        reject(signal?.reason);
      });
    });
  }
}
