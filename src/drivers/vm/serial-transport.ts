/** Over virtio ports, which QEMU has as sockets in the run directory. Each carries one connection, the newest. */
import type { Duplex } from 'node:stream';
import { HostPort } from '#guest/host-port.ts';
import { dialGuest } from '../local/dial.ts';
import { SOCKETS } from './args.ts';
import type { MachinePort, Patience, Transport } from './transport.ts';

export class SerialTransport implements Transport {
  readonly #run: () => string;
  readonly #letGo: AbortSignal;
  readonly #ports = new Map<MachinePort, Promise<HostPort>>();

  constructor(run: () => string, letGo: AbortSignal) {
    this.#run = run;
    this.#letGo = letGo;
  }

  /** The one before over the same port has ended then. */
  async connect(port: MachinePort, patience: Patience, signal: AbortSignal): Promise<Duplex> {
    return (await this.#port(port, patience, signal)).connect(signal);
  }

  async open(patience: Patience, signal: AbortSignal): Promise<void> {
    await Promise.all([this.#port('control', patience, signal), this.#port('relay', patience, signal)]);
  }

  async close(): Promise<void> {
    for (const port of this.#ports.values()) port.then((each) => each.close()).catch(() => {});
    this.#ports.clear();
  }

  /** Dialled by one at a time: QEMU hears one, and a second would wait until the first has hung up. */
  async #port(name: MachinePort, patience: Patience, signal: AbortSignal): Promise<HostPort> {
    for (;;) {
      const known = this.#ports.get(name);
      const port = await known?.catch(() => undefined);
      this.#letGo.throwIfAborted();
      signal.throwIfAborted();
      if (port?.isOpen) return port;
      // Somebody else has begun meanwhile.
      if (this.#ports.get(name) !== known) continue;
      const opening = patience((either) => dialGuest(`${this.#run()}/${SOCKETS[name]}`, either)).then((carrier) => new HostPort(carrier));
      this.#ports.set(name, opening);
      return opening;
    }
  }
}
