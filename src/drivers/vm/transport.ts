/** How the host comes to the guest of a machine. */
import type { Duplex } from 'node:stream';
import type { GuestPort } from '../driver.ts';

export type MachinePort = GuestPort | 'egress';

/** Calls `dial`, again where whoever gives it waits for what is not there yet. */
export type Patience = <T>(dial: (signal: AbortSignal) => Promise<T>) => Promise<T>;

export interface Transport {
  /** A connection to the guest. Where a port carries one only, the one before has ended then. */
  connect(port: MachinePort, patience: Patience, signal: AbortSignal): Promise<Duplex>;
  /** Whatever a guest that wakes up in a copy must find in place. */
  open(patience: Patience, signal: AbortSignal): Promise<void>;
  /** Resolves when nobody would be disturbed by the end of this process. */
  close(): Promise<void>;
}
