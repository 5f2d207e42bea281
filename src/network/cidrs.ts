/** IPv4 ranges as text in, and in the one form in which nft reads and prints them out. Pure. */
import { isIPv4 } from 'node:net';
import { AgentisoError } from '#lib/errors.ts';

interface Cidr {
  /** First address as a number. */
  readonly first: number;
  readonly bits: number;
}

/** Without the ranges that lie in another one of the list: nft refuses overlaps in a set of ranges. */
export function normaliseCidrs(texts: readonly string[]): string[] {
  const cidrs = texts.map(parseCidr).sort((a, b) => a.bits - b.bits || a.first - b.first);
  const kept: Cidr[] = [];
  for (const cidr of cidrs) if (!kept.some((outer) => contains(outer, cidr))) kept.push(cidr);
  return kept.map(formatCidr);
}

export function checkAddress(text: string): string {
  if (isIPv4(text)) return text;
  throw new AgentisoError('Invalid', `'${text}' is no IPv4 address`, { reason: 'RulesRejected' });
}

function parseCidr(text: string): Cidr {
  const [address = '', length = '', ...rest] = text.split('/');
  const bits = Number(length);
  if (!isIPv4(address) || !/^\d{1,2}$/.test(length) || bits > 32 || rest.length > 0) {
    throw new AgentisoError('Invalid', `'${text}' is no IPv4 range; write it as 192.168.7.0/24`, { reason: 'RulesRejected' });
  }
  return { first: firstOf(toNumber(address), bits), bits };
}

function contains(outer: Cidr, inner: Cidr): boolean {
  return outer.bits <= inner.bits && firstOf(inner.first, outer.bits) === outer.first;
}

function firstOf(address: number, bits: number): number {
  const size = 2 ** (32 - bits);
  return Math.floor(address / size) * size;
}

function toNumber(address: string): number {
  return address.split('.').reduce((number, byte) => number * 256 + Number(byte), 0);
}

function formatCidr({ first, bits }: Cidr): string {
  const address = [24, 16, 8, 0].map((shift) => Math.floor(first / 2 ** shift) % 256).join('.');
  return bits === 32 ? address : `${address}/${bits}`;
}
