/** An IP address as the bytes that certificates hold; two spellings of one address give the same bytes. */
import { isIPv4, isIPv6 } from 'node:net';

export function ipBytes(text: string): Buffer | undefined {
  if (isIPv4(text)) return Buffer.from(text.split('.').map(Number));
  // The zone of a link-local address says something about this host only.
  const address = text.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  return isIPv6(address) ? ipv6Bytes(address) : undefined;
}

function ipv6Bytes(address: string): Buffer {
  // URL writes every spelling in one way: hexadecimal groups, one `::` at most.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = Array<number>(8 - before.length - after.length).fill(0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}

function groups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}
