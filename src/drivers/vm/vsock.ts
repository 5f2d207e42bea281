/** Whether machines can be reached by vsock here, and by which number. */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { AgentisoError } from '#lib/errors.ts';
import { claimCid } from '#lib/vhost-vsock.ts';

export const TRANSPORTS = ['virtio-serial', 'vsock'] as const;
export type TransportName = (typeof TRANSPORTS)[number];

export const VHOST_VSOCK = '/dev/vhost-vsock';

/**
 * What keeps machines from being reached the way that was asked for; undefined: nothing. Nobody gets another way instead: who asks for vsock may have
 * a reason.
 */
export function transportProblem(asked: string | undefined, isRoot: boolean, device = VHOST_VSOCK): string | undefined {
  if (asked === undefined || asked === '' || asked === 'virtio-serial') return undefined;
  if (asked !== 'vsock') return `AGENTISO_VM_TRANSPORT is ${asked}; there are ${TRANSPORTS.join(' and ')}`;
  // Whoever is not root has no port by which guests know their host.
  if (!isRoot) return 'AGENTISO_VM_TRANSPORT is vsock, which needs a daemon that runs as root';
  if (statSync(device, { throwIfNoEntry: false })?.isCharacterDevice()) return undefined;
  return `AGENTISO_VM_TRANSPORT is vsock, and there is no ${device}; run: modprobe vhost_vsock`;
}

/** 0 to 2 mean the hypervisor, oneself and the host; small ones are what people give their machines by hand. */
const FIRST_CID = 65_536;
const CIDS = 2 ** 31 - FIRST_CID;
const TRIES = 64;

/** Pure. Always the same for the same machine, and hardly ever that of another. */
export function cidOf(machine: string, attempt = 0): number {
  const digest = createHash('sha256').update(`${attempt} ${machine}`).digest();
  return FIRST_CID + (digest.readUInt32BE(0) % CIDS);
}

/**
 * The first of its numbers that no machine of this computer has, whoever runs it. One that is taken a moment later ends QEMU at its start, and the next
 * start takes another.
 */
export function chooseCid(machine: string, isFree: (cid: number) => boolean = (cid) => claimCid(VHOST_VSOCK, cid)): number {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const cid = cidOf(machine, attempt);
    if (isFree(cid)) return cid;
  }
  throw new AgentisoError('Unavailable', `vsock: the first ${TRIES} numbers of this machine are all taken`);
}
