import { expect, it } from 'vitest';
import { hostAddresses, parseLocalAddresses } from './host-addresses.ts';

const TRIE = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     |-- 192.168.7.0
        /24 link UNICAST
Local:
  +-- 0.0.0.0/0 2 0 2
     |-- 127.0.0.1
        /32 host LOCAL
     +-- 192.168.7.0/24 2 0 2
        |-- 192.168.7.0
           /32 link BROADCAST
           /24 link UNICAST
        |-- 192.168.7.20
           /32 host LOCAL
        |-- 192.168.7.255
           /32 link BROADCAST
`;

it('are what the kernel delivers to itself', () => {
  expect(parseLocalAddresses(TRIE)).toEqual(['127.0.0.1', '192.168.7.20']);
  expect(parseLocalAddresses(TRIE + TRIE)).toEqual(['127.0.0.1', '192.168.7.20']);
});

it('include loopback on the machine that runs this', () => {
  expect(hostAddresses()).toContain('127.0.0.1');
});
