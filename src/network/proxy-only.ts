/** The network where there is no right to make one: agents have the proxy and nothing else. */
import { StalledError } from '#lib/errors.ts';
import type { Network } from './network.ts';

export function proxyOnlyNetwork(reason: string): Network {
  const refuse = async (): Promise<never> => {
    throw new StalledError('NetworkUnavailable', `agents have no network but the proxy: ${reason}`);
  };
  return {
    mode: 'proxy-only',
    reason,
    hasUplink: false,
    ensureLink: refuse,
    removeLink: async () => {},
    listLinks: async () => [],
    apply: refuse,
    counters: refuse,
    onDrift: () => () => {},
    close: async () => {},
    destroy: async () => {},
  };
}
