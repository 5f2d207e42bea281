/** The host's end of a port of a virtual machine: one connection after the other over the same bytes, the newest counts. */
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { UnavailableError } from '#lib/errors.ts';
import { PortConnection } from '#protocol/port-connection.ts';
import { encodeMark, type Mark, MarkReader } from '#protocol/port-marks.ts';

/** What is said before the guest has opened its end is lost: it is said again until it is answered. */
const REPEAT_MS = 50;

interface Opening {
  readonly connection: PortConnection;
  /** Until the guest has answered, what comes was meant for others. */
  isReady: boolean;
  onReady(): void;
}

export class HostPort {
  readonly #carrier: Duplex;
  #newest: Opening | undefined;

  /** Takes over what carries the bytes. */
  constructor(carrier: Duplex) {
    this.#carrier = carrier;
    const reader = new MarkReader();
    carrier.on('data', (chunk: Uint8Array) => {
      for (const part of reader.push(chunk)) this.#take(part);
    });
    // What follows is `close`.
    carrier.on('error', () => {});
    carrier.once('close', () => this.#newest?.connection.cut());
  }

  get isOpen(): boolean {
    return !this.#carrier.destroyed && !this.#carrier.writableEnded;
  }

  /** Resolves when the guest answers on a new connection; from here on, one before it has ended. Rejects when the machine is gone. */
  connect(signal: AbortSignal): Promise<Duplex> {
    this.#newest?.connection.cut();
    const connection = new PortConnection({ name: randomBytes(8).toString('hex'), carrier: this.#carrier, onClose: () => {} });
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearInterval(timer);
        signal.removeEventListener('abort', giveUp);
        end();
      };
      const giveUp = () => {
        settle(() => reject(signal.reason));
        connection.cut();
      };
      const sayOpen = () => this.#carrier.write(encodeMark({ kind: 'open', connection: connection.name }));
      const timer = setInterval(sayOpen, REPEAT_MS);
      this.#newest = { connection, isReady: false, onReady: () => settle(() => resolve(connection)) };
      connection.once('close', () => settle(() => reject(new UnavailableError('the machine hung up', { reason: 'MachineHungUp' }))));
      if (signal.aborted) return giveUp();
      if (!this.isOpen) return connection.cut();
      signal.addEventListener('abort', giveUp);
      sayOpen();
    });
  }

  close(): void {
    this.#newest?.connection.destroy();
    this.#carrier.end();
  }

  #take(part: Uint8Array | Mark): void {
    const newest = this.#newest;
    if (newest === undefined) return;
    if (!('kind' in part)) {
      if (newest.isReady) newest.connection.receive(part);
    } else if (part.connection === newest.connection.name) this.#takeMark(newest, part);
  }

  #takeMark(newest: Opening, { kind }: Mark): void {
    if (newest.isReady) {
      if (kind === 'end') newest.connection.receiveEnd();
    } else if (kind === 'ready') {
      newest.isReady = true;
      newest.onReady();
    }
  }
}
