/** How the host comes to the guest of a machine. */
import type { Duplex } from 'node:stream';
import type { GuestPort } from '../driver.ts';

export type MachinePort = GuestPort | 'egress';

/** Opens one of the sockets of the run directory, or what else leads to a guest; how long it waits for it is up to whoever gives it. */
export type Patience = <T>(dial: (signal: AbortSignal) => Promise<T>) => Promise<T>;

export interface Transport {
  /** A connection to the guest, for as long as `signal` says and with the caller's patience for one that is not there yet. */
  connect(port: MachinePort, patience: Patience, signal: AbortSignal): Promise<Duplex>;
  /** Whatever a guest that wakes up in a copy must find in place. */
  open(patience: Patience, signal: AbortSignal): Promise<void>;
  close(): void;
}
