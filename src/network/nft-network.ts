/** Links and rules in a router namespace, watched for changes by others. Nothing is made before the first link is asked for. */
import { messageOf } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import { Links } from './links.ts';
import { Monitor } from './monitor.ts';
import { namespacePath } from './namespaces.ts';
import type { Counters, FindFirst, Link, Network, Policy } from './network.ts';
import { Router } from './router.ts';
import { Rules } from './rules.ts';
import { Session } from './session.ts';
import type { Tools } from './tools.ts';
import { Transactions } from './transactions.ts';

export interface NftNetworkOptions {
  /** Eight hex digits. */
  readonly home: string;
  readonly log: Logger;
  readonly tools: Tools;
  readonly shape: string;
  readonly hasUplink: boolean;
  readonly checkEveryMs: number;
  readonly hostAddresses: () => readonly string[];
}

export class NftNetwork implements Network {
  readonly mode = 'nftables';
  readonly reason = '';
  readonly hasUplink: boolean;
  readonly #options: NftNetworkOptions;
  readonly #router: Router;
  readonly #links: Links;
  readonly #rules: Rules;
  readonly #monitor: Monitor;
  readonly #session: Session;
  readonly #listeners = new Set<(what: string) => void>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isLookDue = false;
  #isClosed = false;

  constructor(options: NftNetworkOptions) {
    const { home, tools, log, shape, hostAddresses } = options;
    this.#options = options;
    this.hasUplink = options.hasUplink;
    this.#router = new Router(home, tools);
    this.#links = new Links({ home, tools, router: this.#router });
    const { name, nft } = this.#router;
    const namespace = namespacePath(name);
    const onForeignChange = (): void => this.#look();
    this.#monitor = new Monitor({ tools, namespace, log, isOwn: (pid) => nft.isOwn(pid), onForeignChange });
    this.#session = new Session({ tools, namespace, onPid: (pid) => nft.remember(pid) });
    const transactions = new Transactions({ nft, session: this.#session, monitor: this.#monitor });
    this.#rules = new Rules({ nft, transactions, shape, hostAddresses, onDrift: (what) => this.#tell(what) });
  }

  async ensureLink(agent: number, signal: AbortSignal, findFirst?: FindFirst): Promise<Link> {
    await this.#open();
    return this.#links.ensure(agent, signal, findFirst);
  }

  async removeLink(agent: number, signal: AbortSignal): Promise<void> {
    await this.#links.remove(agent, signal);
  }

  async listLinks(signal: AbortSignal): Promise<number[]> {
    return this.#links.list(signal);
  }

  async apply(policy: Policy, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    // Without a router there is nothing that could be let through.
    if (policy.members.length === 0 && !this.#router.exists()) return;
    await this.#open();
    if (this.hasUplink && policy.teams.some(needsUplink)) await this.#router.ensureUplink();
    await this.#rules.apply(policy);
  }

  async counters(signal: AbortSignal): Promise<Counters> {
    const counts = this.#router.exists() ? await this.#router.nft.counters(signal) : {};
    return {
      spoofed: counts['spoofed'] ?? 0,
      deniedBetweenAgents: counts['denied_between'] ?? 0,
      deniedEgress: counts['denied_egress'] ?? 0,
      deniedHost: counts['denied_host'] ?? 0,
    };
  }

  onDrift(listener: (what: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** A router without a link has nothing to deny and goes; otherwise all of it stays. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#monitor.close();
    await this.#looking;
    await this.#session.close();
    if (this.#router.exists() && (await this.#links.list()).length === 0) await this.#router.remove();
  }

  async destroy(signal: AbortSignal): Promise<void> {
    for (const agent of await this.#links.list(signal)) await this.#links.remove(agent, signal);
    await this.close();
  }

  async #open(): Promise<void> {
    const isNew = await this.#router.ensure();
    if (this.#isClosed) return;
    if (isNew) {
      // A monitor in a router that is gone hears nothing, what is sent there is lost, and links to it lead nowhere.
      this.#rules.forget();
      await Promise.all([this.#monitor.close(), this.#session.end()]);
      if (this.#links.made.size > 0) this.#look();
    }
    this.#monitor.start();
    this.#timer ??= setInterval(() => this.#look(), this.#options.checkEveryMs).unref();
  }

  /** Never more than one look at a time; what happens during one causes another. */
  #look(): void {
    this.#isLookDue = true;
    if (this.#isClosed || this.#looking !== undefined) return;
    this.#looking = this.#lookUntilDone().finally(() => {
      this.#looking = undefined;
    });
  }

  async #lookUntilDone(): Promise<void> {
    while (this.#isLookDue && !this.#isClosed) {
      this.#isLookDue = false;
      try {
        await this.#repair();
      } catch (error) {
        this.#options.log.warn({ err: error }, 'the network is not as it should be');
        this.#tell(messageOf(error));
      }
    }
  }

  /** Rules before links: a link without rules would be open. */
  async #repair(): Promise<void> {
    if (this.#links.made.size === 0 && !this.#router.exists()) return;
    await this.#open();
    await this.#rules.check();
    const lost = await this.#links.lost();
    for (const agent of lost) await this.#links.ensure(agent);
    if (lost.length > 0) this.#tell(`the links of ${lost.length} agents were gone`);
  }

  #tell(what: string): void {
    this.#options.log.warn({ what }, 'network rules drifted');
    for (const listener of this.#listeners) listener(what);
  }
}

function needsUplink({ allowInternet, allowCidrs }: Policy['teams'][number]): boolean {
  return allowInternet || allowCidrs.length > 0;
}
