/** Ports of this machine's loopback that lead into workspaces. A proxy in the daemon: what it dials may come and go, the port stays. */
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '#lib/log.ts';
import { join } from '../egress/join.ts';
import { candidates, type Forward, isStillWanted, portTaken, refuseForwards, type WantedForward } from './plan.ts';

/** Opens a connection to a port inside. */
export type DialGuest = (guestPort: number, signal: AbortSignal) => Promise<Duplex>;

export interface PortForwardsOptions {
  readonly log: Logger;
  /** Ports of our own, beside 7070. */
  readonly reserved?: readonly number[];
  readonly dialMs?: number;
}

interface Listener extends Forward {
  readonly id: string;
  readonly server: Server;
  readonly sockets: Set<Socket>;
  /** The newest one given: connections that come later use it. */
  dial: DialGuest;
}

const HOST = '127.0.0.1';
const DIAL_MS = 10_000;
const MAX_CONNECTIONS = 256;

export class PortForwards {
  readonly #log: Logger;
  readonly #reserved: readonly number[];
  readonly #dialMs: number;
  /** By host port. */
  readonly #listeners = new Map<number, Listener>();
  /** One change at a time: two of them must not choose the same port. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor({ log, reserved = [], dialMs = DIAL_MS }: PortForwardsOptions) {
    this.#log = log;
    this.#dialMs = dialMs;
    this.#reserved = reserved;
  }

  /**
   * Idempotent: makes the forwards of `id` those of `wanted`. What exists and is wanted stays, with its connections. `previous` is what the
   * caller remembers from before a restart; a port that was chosen then is chosen again while it is free. When one forward cannot be,
   * none of the new ones is.
   */
  ensure(id: string, wanted: readonly WantedForward[], dial: DialGuest, previous: readonly Forward[] = []): Promise<Forward[]> {
    return this.#inTurn(() => this.#ensure(id, wanted, dial, previous));
  }

  /** Idempotent; cuts what is connected. */
  remove(id: string): Promise<void> {
    return this.#inTurn(() => this.#close(this.#of(id)));
  }

  closeAll(): Promise<void> {
    return this.#inTurn(() => this.#close([...this.#listeners.values()]));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {
      // Told to whoever asked for it.
    });
    return done;
  }

  async #ensure(id: string, wanted: readonly WantedForward[], dial: DialGuest, previous: readonly Forward[]): Promise<Forward[]> {
    refuseForwards(wanted, this.#reserved);
    await this.#close(this.#of(id).filter((listener) => !isStillWanted(listener, wanted)));
    for (const listener of this.#of(id)) listener.dial = dial;
    const existing = new Set(this.#of(id).map(({ guestPort }) => guestPort));
    // Ports that were asked for by number come first: none of them may be chosen for somebody else meanwhile.
    const missing = wanted
      .filter(({ guestPort }) => !existing.has(guestPort))
      .sort((a, b) => Number(a.hostPort === null) - Number(b.hostPort === null));
    const opened: Listener[] = [];
    try {
      for (const forward of missing) opened.push(await this.#open(id, forward, dial, previous));
    } catch (error) {
      await this.#close(opened);
      throw error;
    }
    const listeners = this.#of(id);
    return wanted.flatMap(({ guestPort }) => {
      const found = listeners.find((listener) => listener.guestPort === guestPort);
      return found ? [{ guestPort, hostPort: found.hostPort }] : [];
    });
  }

  #of(id: string): Listener[] {
    return [...this.#listeners.values()].filter((listener) => listener.id === id);
  }

  async #open(id: string, forward: WantedForward, dial: DialGuest, previous: readonly Forward[]): Promise<Listener> {
    let isOurs = false;
    for (const hostPort of candidates(forward, { previous, reserved: this.#reserved })) {
      isOurs = this.#listeners.has(hostPort);
      const listener = isOurs ? undefined : await this.#listen({ id, guestPort: forward.guestPort, hostPort, dial });
      if (listener) return listener;
    }
    throw portTaken(forward, isOurs);
  }

  /** Undefined when the port is taken. */
  async #listen(options: Forward & Pick<Listener, 'id' | 'dial'>): Promise<Listener | undefined> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    server.maxConnections = MAX_CONNECTIONS;
    if (!(await listens(server, options.hostPort))) return undefined;
    const listener: Listener = { ...options, server, sockets: new Set() };
    server.on('error', (error) => this.#log.warn({ err: error, hostPort: options.hostPort }, 'a port forward could not accept'));
    server.on('connection', (socket) => void this.#connect(listener, socket));
    this.#listeners.set(options.hostPort, listener);
    return listener;
  }

  async #connect(listener: Listener, socket: Socket): Promise<void> {
    const { id, guestPort, sockets } = listener;
    sockets.add(socket);
    socket.on('error', () => {
      // Shows in how the other side ends.
    });
    socket.on('close', () => sockets.delete(socket));
    try {
      const guest = await this.#dial(listener, socket);
      guest.on('error', () => {});
      join(socket, guest);
    } catch (error) {
      this.#log.debug({ err: error, id, guestPort }, 'a forwarded port did not answer');
      socket.destroy();
    }
  }

  /** The signal ends with the dialling: whoever gave it to the connection itself must not lose that later. */
  async #dial({ guestPort, dial }: Listener, socket: Socket): Promise<Duplex> {
    const dialling = new AbortController();
    const giveUp = () => dialling.abort();
    const timer = setTimeout(giveUp, this.#dialMs);
    socket.once('close', giveUp);
    try {
      return await dial(guestPort, dialling.signal);
    } finally {
      clearTimeout(timer);
      socket.off('close', giveUp);
    }
  }

  async #close(listeners: readonly Listener[]): Promise<void> {
    await Promise.all(
      listeners.map(({ hostPort, server, sockets }) => {
        this.#listeners.delete(hostPort);
        const closed = new Promise<void>((resolve) => server.close(() => resolve()));
        for (const socket of sockets) socket.destroy();
        return closed;
      }),
    );
  }
}

function listens(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error));
    server.once('error', onError);
    server.listen(port, HOST, () => {
      server.off('error', onError);
      resolve(true);
    });
  });
}
