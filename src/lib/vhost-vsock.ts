/** The kernel's half of vsock devices: it knows which numbers are taken. */
import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { getSystemErrorName } from 'node:util';
import { AgentisoError } from './errors.ts';

/** VHOST_VSOCK_SET_GUEST_CID. */
const SET_GUEST_CID = 0x4008af60;

interface Calls {
  readonly ioctl: (fd: number, request: number, value: Buffer) => number;
  readonly errno: () => number;
}

let loaded: Calls | undefined;

function calls(): Calls {
  if (loaded === undefined) {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    loaded = { ioctl: koffi.load(null).func('int ioctl(int, unsigned long, void *)'), errno: () => koffi.errno() };
  }
  return loaded;
}

/** Asks for the number and gives it back at once: false when somebody has it. */
export function claimCid(device: string, cid: number): boolean {
  const descriptor = openSync(device, 'r+');
  try {
    const value = Buffer.alloc(8);
    value.writeUInt32LE(cid);
    if (calls().ioctl(descriptor, SET_GUEST_CID, value) === 0) return true;
    const name = getSystemErrorName(-calls().errno());
    if (name === 'EADDRINUSE') return false;
    throw new AgentisoError('IoError', `${device}: the number ${cid} is refused: ${name}`);
  } finally {
    closeSync(descriptor);
  }
}
