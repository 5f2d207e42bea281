/** The network of a simulated machine: links are numbers, and rules are whatever was applied last. */
import { addressOf, GATEWAY, GATEWAY_MAC, macOf } from '#network/addresses.ts';
import type { Network } from '#network/network.ts';

export function simulatedNetwork(links: Set<number>): Network {
  return {
    mode: 'nftables',
    reason: '',
    hasUplink: false,
    async ensureLink(agent) {
      links.add(agent);
      return {
        agent,
        address: addressOf(agent),
        mac: macOf(agent),
        gateway: GATEWAY,
        gatewayMac: GATEWAY_MAC,
        namespace: `/run/netns/simulated-${agent}`,
      };
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
