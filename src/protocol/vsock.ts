/** Where a guest listens for its host when they speak over vsock, and for whom. Pure. */

/** Of this machine, in every virtual one: nobody else is let in. */
export const HOST_CID = 2;

/** The numbers of the ports that every machine has. */
export const VSOCK_PORTS = { control: 5000, relay: 5001, egress: 5002 } as const;

/** Where the host listens, once: the guest calls it when it listens itself, and until it was answered. */
export const CALL_PORT = 5003;

/** VMADDR_CID_ANY: whoever is called so here. */
export const ANY_CID = 0xffff_ffff;

/** AF_VSOCK. */
export const VSOCK_FAMILY = 40;
const ADDRESS_BYTES = 16;

/** struct sockaddr_vm of amd64. */
export function vsockAddress(cid: number, port: number): Buffer {
  const address = Buffer.alloc(ADDRESS_BYTES);
  address.writeUInt16LE(VSOCK_FAMILY, 0);
  address.writeUInt32LE(port, 4);
  address.writeUInt32LE(cid, 8);
  return address;
}
