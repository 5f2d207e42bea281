/** The network of a simulated machine: links are numbers, and rules are whatever was applied last. */
import type { Network } from '#network/network.ts';

export function simulatedNetwork(links: Set<number>): Network {
  return {
    mode: 'nftables',
    reason: '',
    hasUplink: false,
    async ensureLink(agent) {
      links.add(agent);
      return { agent, address: `10.99.${agent >> 8}.${agent & 255}`, namespace: `/run/netns/simulated-${agent}` };
    },
    async removeLink(agent) {
      links.delete(agent);
    },
    listLinks: async () => [...links],
    apply: async () => {},
    counters: async () => ({ spoofed: 0, deniedBetweenAgents: 0, deniedEgress: 0, deniedHost: 0 }),
    onDrift: () => () => {},
    close: async () => {},
    async destroy() {
      links.clear();
    },
  };
}
