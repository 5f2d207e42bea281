/** Whether one range of addresses, or one name with or without `*.`, lies within another. Pure. */
import { BlockList } from 'node:net';

export function isNameIn(inner: string, outer: string): boolean {
  return outer === inner || (outer.startsWith('*.') && inner.endsWith(outer.slice(1)));
}

export function isRangeIn(inner: string, outer: string): boolean {
  const [innerAddress, innerBits] = parts(inner);
  const [address, bits] = parts(outer);
  const range = new BlockList();
  range.addSubnet(address, bits);
  return bits <= innerBits && range.check(innerAddress);
}

/** A schema may let 010.0.0.1 pass as it does 10.0.0.1; parsers of addresses do not. */
export function plainRange(cidr: string): string {
  return cidr.replace(/\b0+(?=\d)/g, '');
}

function parts(cidr: string): [address: string, bits: number] {
  const [address = '', bits = ''] = plainRange(cidr).split('/');
  return [address, Number(bits)];
}
