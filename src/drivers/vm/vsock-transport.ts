/** Over vsock: connections as sockets have them, any number beside each other. */
import type { Duplex } from 'node:stream';
import { dialVsock } from '#guest/vsock-socket.ts';
import type { MachinePort, Patience, Transport } from './transport.ts';

export class VsockTransport implements Transport {
  readonly #cid: number;
  readonly #letGo: AbortSignal;
  readonly #open = new Set<Duplex>();

  /** `cid`: which machine. */
  constructor(cid: number, letGo: AbortSignal) {
    this.#cid = cid;
    this.#letGo = letGo;
  }

  async connect(port: MachinePort, patience: Patience): Promise<Duplex> {
    const stream = await patience((signal) => dialVsock(this.#cid, port, signal));
    if (this.#letGo.aborted) stream.destroy();
    this.#letGo.throwIfAborted();
    this.#open.add(stream);
    stream.once('close', () => this.#open.delete(stream));
    return stream;
  }

  async open(): Promise<void> {}

  close(): void {
    for (const stream of this.#open) stream.destroy();
  }
}
