/** One unix socket that the host connects to. */
import { once } from 'node:events';
import { type Stats, statSync, unlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { Channel } from '#protocol/channel.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { listenAlone } from './listen-alone.ts';

const MAX_CONNECTIONS = 64;
const ACCEPT_PAUSE_MS = 100;
/** Equal to none. */
const NO_INODE = -1;

export interface ListenerOptions {
  readonly path: string;
  serve(socket: Socket): void;
  report(problem: string): void;
  /** The server to listen with, for tests that make it fail. */
  readonly server?: Server;
}

export class Listener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #inode: number | undefined;

  private constructor(options: ListenerOptions) {
    this.#options = options;
    this.#server = options.server ?? createServer();
    this.#server.on('connection', (socket) => this.#accept(socket));
  }

  static async open(options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(options);
    await listener.#listen();
    listener.#server.on('error', (error) => listener.#pause(error));
    return listener;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** False: the host cannot find this socket any more, because its directory is gone or another guest has taken its place. */
  get isInPlace(): boolean {
    return this.#inode === undefined || statOf(this.#options.path)?.ino === this.#inode;
  }

  /** Takes the socket away only if it is still this one's. */
  close(): void {
    if (this.isInPlace) this.#server.close();
  }

  async #listen(): Promise<void> {
    const { path } = this.#options;
    // A guest that was killed leaves its socket behind; one that still runs notices that it was replaced, and ends.
    unlinkIfThere(path);
    // The socket's mode is 0600 from its first moment.
    const umask = process.umask(0o177);
    listenAlone(this.#server, { path });
    process.umask(umask);
    await once(this.#server, 'listening');
    this.#inode = statOf(path)?.ino;
  }

  #accept(socket: Socket): void {
    if (this.#sockets.size >= MAX_CONNECTIONS) {
      new Channel(socket, { outgoing: {} }).close(new ProtocolError('Unavailable', `more than ${MAX_CONNECTIONS} connections`));
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    this.#options.serve(socket);
  }

  /** Whatever keeps connections from being accepted will not be better at once: the host tries again anyway. */
  #pause(error: Error): void {
    this.#options.report(`${this.#options.path}: ${error.message}`);
    if (this.#inode === undefined) return;
    this.#inode = undefined;
    this.#server.close();
    setTimeout(() => void this.#listen().catch((problem: Error) => this.#giveUp(problem)), ACCEPT_PAUSE_MS);
  }

  /** No longer in place: whoever watches that ends the guest. */
  #giveUp(problem: Error): void {
    this.#options.report(problem.message);
    this.#inode = NO_INODE;
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
