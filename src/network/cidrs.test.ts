import { expect, it } from 'vitest';
import { normaliseCidrs } from './cidrs.ts';

it.each([
  ['keeps what is in order', ['10.0.0.0/8', '192.168.7.0/24'], ['10.0.0.0/8', '192.168.7.0/24']],
  ['takes away the bits of the host', ['10.1.2.3/8', '255.255.255.255/1'], ['128.0.0.0/1', '10.0.0.0/8']],
  ['leaves out what lies in another range, and what is there twice', ['10.2.0.0/16', '10.0.0.0/8', '10.0.0.0/8'], ['10.0.0.0/8']],
  ['keeps neighbours apart', ['10.0.0.0/9', '10.128.0.0/9'], ['10.0.0.0/9', '10.128.0.0/9']],
  ['writes one address without a length', ['192.168.7.9/32'], ['192.168.7.9']],
  ['knows the range of everything', ['0.0.0.0/0', '1.2.3.4/32'], ['0.0.0.0/0']],
])('%s', (_what, cidrs, want) => {
  expect(normaliseCidrs(cidrs)).toEqual(want);
});

it.each(['', '10.0.0.0', '10.0.0.0/33', '10.0.0.0/', '10.0.0/8', '10.0.0.0/8/8', '10.0.0.0/8 }', '::/0', '10.0.0.0/-1'])(
  "refuses '%s', so that only parsed ranges enter nft text",
  (cidr) => {
    expect(() => normaliseCidrs([cidr])).toThrow('is no IPv4 range; write it as 192.168.7.0/24');
  },
);
