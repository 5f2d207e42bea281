/** What the test and its part in the outer machine say to each other. */
import type { MachineImage } from '#drivers/vm/driver.ts';

/** On the command line of the outer machine's kernel: where it is not, no socket of the vsock family is opened. */
export const INSIDE_WORD = 'aiso.arg=--vsock-test';

export interface InsidePlan {
  readonly tscKhz: number;
  readonly image: MachineImage;
}

export interface Seen {
  /** What went wrong. */
  failure: string;
  console: string;
  cid: { readonly isFirst: boolean; readonly next: boolean };
  words: string;
  message: { readonly storedSeq: number; readonly wasOver: boolean; readonly said: string };
  bytes: number;
  egress: string;
  strangers: readonly string[];
  reconnected: string;
  adopted: string;
  stopped: string;
}
