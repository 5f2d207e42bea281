/** Over vsock: connections as sockets have them, any number beside each other. */
import type { Duplex } from 'node:stream';
import { askForPort } from '#guest/vsock-port.ts';
import { dialGuest } from '../local/dial.ts';
import { SOCKETS } from './args.ts';
import type { MachinePort, Patience, Transport } from './transport.ts';

export class VsockTransport implements Transport {
  readonly #run: string;
  readonly #letGo: AbortSignal;
  readonly #open = new Set<Duplex>();
  readonly #unanswered = new Set<Promise<void>>();

  constructor(run: string, letGo: AbortSignal) {
    this.#run = run;
    this.#letGo = letGo;
  }

  async connect(port: MachinePort, patience: Patience): Promise<Duplex> {
    const stream = await patience((signal) => this.#dial(port, signal));
    if (this.#letGo.aborted) stream.destroy();
    this.#letGo.throwIfAborted();
    this.#open.add(stream);
    stream.once('close', () => this.#open.delete(stream));
    return stream;
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {
    for (const stream of this.#open) stream.destroy();
    await Promise.all(this.#unanswered);
  }

  async #dial(port: MachinePort, signal: AbortSignal): Promise<Duplex> {
    signal.throwIfAborted();
    // It takes no time worth giving up.
    const carrier = await dialGuest(`${this.#run}/${SOCKETS.vsock}`, new AbortController().signal);
    const { connected, answered } = askForPort(carrier, port, signal);
    this.#unanswered.add(answered);
    void answered.then(() => this.#unanswered.delete(answered));
    return connected;
  }
}
