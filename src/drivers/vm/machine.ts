/** The doors of one running machine, for as long as this daemon looks after it: its ports, and QEMU's own. */

import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { type CarriedEgress, carryEgress } from '#guest/carry-egress.ts';
import type { GuestIdentity } from '#guest/handshake.ts';
import { UnavailableError, WaitingError } from '#lib/errors.ts';
import type { GuestPort } from '../driver.ts';
import { dialGuest } from '../local/dial.ts';
import { SOCKETS } from './args.ts';
import { Qmp } from './qmp.ts';
import { SerialTransport } from './serial-transport.ts';
import type { Patience, Transport } from './transport.ts';
import { untilHeard } from './until-heard.ts';
import type { TransportName } from './vsock.ts';
import { VsockTransport } from './vsock-transport.ts';
import { WantOfRoom } from './want-of-room.ts';

const LOOK_MS = 20;
/** Where the egress proxy listens, in every run directory. */
const PROXY_SOCKET = 'egress.sock';

export interface MachineOptions {
  /** How it is reached; asked when somebody wants to know. Absent: by virtio ports. */
  readonly transportOf?: () => Promise<TransportName>;
  /** It stands still by itself, or goes on. */
  readonly onStandstill?: () => void;
}

export class Machine {
  #run: string;
  readonly #transportOf: () => Promise<TransportName>;
  #name: Promise<TransportName> | undefined;
  #transport: Transport | undefined;
  readonly #letGo = new AbortController();
  #told: Promise<unknown> = Promise.resolve();
  #egress: CarriedEgress | undefined;
  #qmp: Promise<Qmp> | undefined;
  #wantOfRoom: WantOfRoom | undefined;
  /** Whether it is kept still on purpose. */
  isPaused = false;
  readonly #onStandstill: () => void;
  /** Why it ended, as QEMU says: guest-shutdown, guest-reset, host-qmp-quit, ... */
  #shutdownReason: string | undefined;

  /** Of the run directory that its sockets are in. */
  constructor(run: string, { transportOf = async () => 'virtio-serial', onStandstill = () => {} }: MachineOptions = {}) {
    this.#run = run;
    this.#transportOf = transportOf;
    this.#onStandstill = onStandstill;
  }

  /** It stands still because the disk of this machine is full, and goes on by itself when there is room. */
  get wantsRoom(): boolean {
    return this.#wantOfRoom?.isWanted ?? false;
  }

  get shutdownReason(): string | undefined {
    return this.#shutdownReason;
  }

  /** Aborted when nobody here looks after the machine any more; it may well go on. */
  get letGo(): AbortSignal {
    return this.#letGo.signal;
  }

  /** Its run directory has another path from now on; what is open stays so. */
  moveTo(run: string): void {
    this.#run = run;
  }

  /** A connection to the guest; over a virtio port the one before it has ended then. Waits until QEMU and its guest are there. */
  async connect(port: GuestPort, signal: AbortSignal): Promise<Duplex> {
    return (await this.#way(signal)).connect(port, this.#untilThere(signal), signal);
  }

  /** Says it on a connection of its own, until it was heard. One after the other: each would end the connection of the one before. */
  tell<T>(say: (stream: Duplex) => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#told;
    const telling = (async () => {
      await Promise.race([before, aborted(signal)]);
      return untilHeard(() => this.connect('control', signal), say, signal);
    })();
    this.#told = telling.catch(() => {});
    return telling;
  }

  /** So that a guest that wakes up in a copy finds its host where its template had one. */
  async openPorts(signal: AbortSignal): Promise<void> {
    await (await this.#way(signal)).open(this.#untilThere(signal), signal);
  }

  /** To a socket of QEMU in the run directory. */
  dial(socket: keyof typeof SOCKETS, signal: AbortSignal): Promise<Duplex> {
    return this.#untilThere(signal)((either) => dialGuest(`${this.#run}/${SOCKETS[socket]}`, either));
  }

  /** Stays open: what it says last is why the machine ended. Opened by one for all; who gives up gives up for nobody else. */
  async qmp(signal: AbortSignal): Promise<Qmp> {
    for (;;) {
      const known = this.#qmp;
      if (known === undefined) break;
      const qmp = await known.catch(() => undefined);
      if (qmp !== undefined) return qmp;
      signal.throwIfAborted();
      if (this.#qmp === known) this.#qmp = undefined;
    }
    const opening = this.#openQmp(signal);
    this.#qmp = opening;
    return opening;
  }

  /** What programs of the guest say to their proxy is passed on to its socket, which is in the run directory. Idempotent. */
  carryEgress(guest: GuestIdentity): void {
    this.#egress ??= carryEgress({
      ...guest,
      // Tried once each time: a machine that has ended has nobody to wait for.
      connect: async (signal) => (await this.#way(signal)).connect('egress', (dial) => dial(signal), signal),
      dialProxy: (signal) => dialGuest(`${this.#run}/${PROXY_SOCKET}`, signal, { allowHalfOpen: true }),
    });
  }

  /** For good: whoever still waits for it is told. Resolves when this process may end without disturbing the machine. */
  async close(): Promise<void> {
    this.#letGo.abort(new UnavailableError('the machine is let go', { reason: 'MachineLetGo' }));
    this.#egress?.close('the machine is let go');
    this.#egress = undefined;
    this.#qmp?.then((each) => each.close()).catch(() => {});
    this.#wantOfRoom?.close();
    this.#qmp = undefined;
    await this.#transport?.close();
  }

  /** How it is reached. */
  async transport(): Promise<TransportName> {
    this.#name ??= this.#transportOf();
    try {
      return await this.#name;
    } catch (error) {
      // The next one asks again.
      this.#name = undefined;
      throw error;
    }
  }

  async #way(signal: AbortSignal): Promise<Transport> {
    const name = await this.transport();
    this.letGo.throwIfAborted();
    signal.throwIfAborted();
    this.#transport ??= name === 'vsock' ? new VsockTransport(this.#run, this.letGo) : new SerialTransport(() => this.#run, this.letGo);
    return this.#transport;
  }

  async #openQmp(signal: AbortSignal): Promise<Qmp> {
    let wantOfRoom: WantOfRoom | undefined;
    const qmp = await Qmp.open(await this.dial('qmp', signal), (event) => {
      if (event.event === 'SHUTDOWN') this.#shutdownReason = String(event.data?.['reason']);
      wantOfRoom?.hear(event);
    });
    wantOfRoom = new WantOfRoom({ qmp, isPaused: () => this.isPaused, onChange: this.#onStandstill });
    this.#wantOfRoom?.close();
    this.#wantOfRoom = wantOfRoom;
    // Nobody waits for the answer: a start has no time for it.
    void wantOfRoom.look();
    return qmp;
  }

  /** QEMU makes its sockets a moment after its start, and a guest listens later still. */
  #untilThere(signal: AbortSignal): Patience {
    const either = AbortSignal.any([signal, this.letGo]);
    return async (dial) => {
      for (;;) {
        try {
          either.throwIfAborted();
          return await dial(either);
        } catch (error) {
          either.throwIfAborted();
          if (!(error instanceof WaitingError)) throw error;
          await pause(LOOK_MS, undefined, { signal: either }).catch(() => {});
        }
      }
    };
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
