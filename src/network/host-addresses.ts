/** The machine's own IPv4 addresses, which no agent ever reaches: also those of interfaces that are down. */
import { readFileSync } from 'node:fs';

export function hostAddresses(): string[] {
  return parseLocalAddresses(readFileSync('/proc/net/fib_trie', 'utf8'));
}

/** Leaves of the routing tables that the kernel delivers to itself. */
export function parseLocalAddresses(trie: string): string[] {
  const leaves = trie.matchAll(/\|-- (\d+\.\d+\.\d+\.\d+)\n((?: +\/\d+ .*\n?)+)/g);
  const local = [...leaves].filter(([, , routes = '']) => routes.includes('/32 host LOCAL'));
  return [...new Set(local.map(([, address = '']) => address))];
}
