/** Which addresses no agent reaches by name, whatever its team allows: everything that is not the public internet, and this machine. */
import { readFileSync } from 'node:fs';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { hostAddresses } from '../host-addresses.ts';

const BLOCKED_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Of the public half: what carries an IPv4 address within (2002::/16, Teredo), and what is for documents. */
const BLOCKED_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

const blocked = new BlockList();
const global6 = new BlockList();
for (const [net, bits] of BLOCKED_V4) blocked.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of BLOCKED_V6) blocked.addSubnet(net, bits, 'ipv6');
global6.addSubnet('2000::', 3, 'ipv6');

/** Loopback, link-local, unique local, multicast, mapped and translated IPv4 all lie outside of 2000::/3. */
export function isPublic(address: string): boolean {
  if (isIPv4(address)) return !blocked.check(address, 'ipv4');
  return isIPv6(address) && !address.includes('%') && global6.check(address, 'ipv6') && !blocked.check(address, 'ipv6');
}

/** Also of interfaces that are down. */
export function ownAddresses(): BlockList {
  const own = new BlockList();
  for (const address of hostAddresses()) own.addAddress(address, 'ipv4');
  for (const address of parseInet6(readInet6())) own.addAddress(address, 'ipv6');
  return own;
}

export function isOwn(address: string, own: BlockList): boolean {
  return own.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** `20010db8… 02 40 00 80 eth0` a line. */
export function parseInet6(text: string): string[] {
  return [...text.matchAll(/^([0-9a-f]{32}) /gm)].map(([, digits = '']) => digits.replace(/(.{4})(?!$)/g, '$1:'));
}

function readInet6(): string {
  try {
    return readFileSync('/proc/net/if_inet6', 'utf8');
  } catch (error) {
    // A kernel without IPv6.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
