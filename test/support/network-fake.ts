/** A network in memory that keeps the contract: links, one policy in force, coalesced applies, drift on demand. */
import { StalledError } from '#lib/errors.ts';
import { addressOf, GATEWAY, GATEWAY_MAC, macOf } from '#network/addresses.ts';
import type { Network, Policy } from '#network/network.ts';

export interface FakeNetwork extends Network {
  readonly calls: string[];
  readonly links: Set<number>;
  /** What the rules say now. */
  policy: Policy;
  /** Thrown by the next calls, one each. */
  readonly failures: Error[];
  drift(what: string): void;
  /** Whether two agents of these numbers may talk on a TCP port, by the policy in force. */
  lets(from: number, to: number, port: number): boolean;
}

export interface FakeNetworkOptions {
  readonly mode?: 'nftables' | 'proxy-only';
  readonly hasUplink?: boolean;
}

export function fakeNetwork({ mode = 'nftables', hasUplink = false }: FakeNetworkOptions = {}): FakeNetwork {
  const listeners = new Set<(what: string) => void>();
  const call = async (text: string, act: () => void): Promise<void> => {
    if (mode === 'proxy-only') throw new StalledError('NetworkUnavailable', 'agents have no network but the proxy: not root');
    network.calls.push(text);
    await Promise.resolve();
    const failure = network.failures.shift();
    if (failure) throw failure;
    act();
  };
  const network: FakeNetwork = {
    mode,
    reason: mode === 'nftables' ? '' : 'not root',
    hasUplink,
    calls: [],
    links: new Set(),
    policy: { teams: [], members: [] },
    failures: [],
    async ensureLink(agent, _signal, findFirst) {
      const first = network.links.has(agent) ? undefined : await findFirst?.();
      await call(`ensureLink ${agent}${first === undefined ? '' : ` around ${first.pid}`}`, () => network.links.add(agent));
      return {
        agent,
        address: addressOf(agent),
        mac: macOf(agent),
        gateway: GATEWAY,
        gatewayMac: GATEWAY_MAC,
        namespace: `/run/netns/agentiso-fake-${agent}`,
      };
    },
    removeLink: (agent) => call(`removeLink ${agent}`, () => network.links.delete(agent)),
    listLinks: async () => [...network.links],
    apply: (policy) =>
      call('apply', () => {
        network.policy = policy;
      }),
    counters: async () => ({ spoofed: 0, deniedBetweenAgents: 0, deniedEgress: 0, deniedHost: 0 }),
    onDrift(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => {},
    destroy: async () => network.links.clear(),
    drift: (what) => {
      for (const listener of listeners) listener(what);
    },
    lets: (from, to, port) => lets(network, from, to, port),
  };
  return network;
}

function lets({ links, policy }: FakeNetwork, from: number, to: number, port: number): boolean {
  const teamOf = (agent: number) => policy.members.find((member) => member.agent === agent)?.team;
  const [a, b] = [teamOf(from), teamOf(to)];
  if (a === undefined || b === undefined || !links.has(from) || !links.has(to)) return false;
  const deciding = policy.teams.find(
    ({ team, parent }) => (team === a && team === b) || (team === a && parent === b) || (team === b && parent === a),
  );
  if (!deciding?.allowInterAgent) return false;
  return deciding.allowedPorts.length === 0 || deciding.allowedPorts.includes(port);
}
