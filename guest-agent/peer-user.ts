/** Whose program is at the other end of a connection over loopback: the kernel's table of connections says which user made it. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

const TABLE = '/proc/net/tcp';
/** The numbers of columns in a line of the table. */
const LOCAL = 1;
const REMOTE = 2;
const USER = 7;

export function isOfOurUser({ remoteAddress, remotePort, localAddress, localPort }: Socket): boolean {
  if (remoteAddress === undefined || remotePort === undefined || localAddress === undefined || localPort === undefined) return false;
  const user = userOf(readFileSync(TABLE, 'latin1'), [remoteAddress, remotePort], [localAddress, localPort]);
  return user === process.getuid?.();
}

/** Undefined when there is no such connection. Pure. */
export function userOf(table: string, from: readonly [string, number], to: readonly [string, number]): number | undefined {
  const [local, remote] = [hexOf(...from), hexOf(...to)];
  for (const line of table.split('\n')) {
    const columns = line.trim().split(/\s+/);
    if (columns[LOCAL] === local && columns[REMOTE] === remote) return Number(columns[USER]);
  }
  return undefined;
}

/** `0100007F:0C38`: the address as this machine keeps it, the port as people read it. */
function hexOf(address: string, port: number): string {
  const bytes = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  return `${bytes.reverse().join('')}:${port.toString(16).padStart(4, '0')}`.toUpperCase();
}
