/** The network of one home: links and rules where there is the right to make them, else the proxy only. */
import { realpathSync } from 'node:fs';
import type { Logger } from '#lib/log.ts';
import { homeHash } from './addresses.ts';
import { removeFormerNamespaces } from './former-namespaces.ts';
import { hostAddresses } from './host-addresses.ts';
import type { Network } from './network.ts';
import { NftNetwork } from './nft-network.ts';
import { probeNetwork } from './probe.ts';
import { proxyOnlyNetwork } from './proxy-only.ts';

export interface NetworkOptions {
  /** The home directory; its real path names everything that is made. */
  readonly home: string;
  readonly log: Logger;
  /** Where the home was before, and nothing is now. */
  readonly formerHomes?: readonly string[];
  /**
   * Whether packets may leave the machine at all, for allowInternet and allowCidrs: makes a link between router and host when a
   * team needs it. Forwarding and masquerading on the host remain the operator's. False when absent.
   */
  readonly uplink?: boolean;
  /** Rules and links are compared with what they should be this often; 10 s when absent. */
  readonly checkEveryMs?: number;
  readonly hostAddresses?: () => readonly string[];
  /** Where ip, nft and the other tools are looked for. */
  readonly toolDirectories?: readonly string[];
}

const CHECK_EVERY_MS = 10_000;

export async function createNetwork(options: NetworkOptions): Promise<Network> {
  const probe = await probeNetwork(options.toolDirectories);
  if (!('tools' in probe)) return proxyOnlyNetwork(probe.reason);
  for (const former of options.formerHomes ?? []) {
    await removeFormerNamespaces(probe.tools, former).catch((error: unknown) =>
      options.log.warn({ err: error, former }, 'network namespaces of the place where this home was before cannot be removed'),
    );
  }
  return new NftNetwork({
    home: homeHash(realpathSync(options.home)),
    log: options.log,
    tools: probe.tools,
    shape: probe.shape,
    hasUplink: options.uplink ?? false,
    checkEveryMs: options.checkEveryMs ?? CHECK_EVERY_MS,
    hostAddresses: options.hostAddresses ?? hostAddresses,
  });
}
