/** One point-to-point link per agent between its own network namespace and the router: no agent shares a segment with another. */
import { existsSync } from 'node:fs';
import { AgentisoError } from '#lib/errors.ts';
import { TAP } from '#lib/machine-tap.ts';
import { isRunning, type ProcessIdentity } from '#lib/process-identity.ts';
import { addressOf, agentNamespace, agentOfLink, agentOfNamespace, GATEWAY, GATEWAY_MAC, linkOf, macOf } from './addresses.ts';
import {
  addNamespaceLine,
  joinMachine,
  linkNames,
  listNamespaces,
  nameNamespaceLine,
  namespaceExists,
  namespacePath,
  removeNamespace,
  runIp,
} from './namespaces.ts';
import type { FindFirst, Link } from './network.ts';
import type { Router } from './router.ts';
import type { Tools } from './tools.ts';

export interface LinksOptions {
  readonly home: string;
  readonly tools: Tools;
  readonly router: Router;
}

interface Making {
  readonly signal: AbortSignal | undefined;
  readonly findFirst: FindFirst | undefined;
}

export class Links {
  readonly #options: LinksOptions;
  /** Known to be complete. */
  readonly #made = new Set<number>();
  /** Links in the router, complete or not; undefined until looked at. */
  #seen: Set<number> | undefined;
  /** What was made (true) and removed (false) while looks are under way: they may have looked before it. */
  readonly #looks = new Set<Map<number, boolean>>();
  readonly #busy = new Map<number, Promise<unknown>>();

  constructor(options: LinksOptions) {
    this.#options = options;
  }

  get made(): ReadonlySet<number> {
    return this.#made;
  }

  ensure(agent: number, signal?: AbortSignal, findFirst?: FindFirst): Promise<Link> {
    return this.#alone(agent, async () => {
      const name = agentNamespace(this.#options.home, agent);
      if (!this.#made.has(agent) || !namespaceExists(name)) await this.#make(agent, { signal, findFirst });
      const ends = { address: addressOf(agent), mac: macOf(agent), gateway: GATEWAY, gatewayMac: GATEWAY_MAC };
      return { agent, ...ends, namespace: namespacePath(name) };
    });
  }

  remove(agent: number, signal?: AbortSignal): Promise<void> {
    return this.#alone(agent, async () => {
      this.#made.delete(agent);
      // The link first: the namespace would take it along only some time later.
      if (this.#options.router.exists() && (this.#seen ?? (await this.#look(signal))).has(agent)) await this.#deleteLink(agent, signal);
      await removeNamespace(this.#options.tools, agentNamespace(this.#options.home, agent), signal);
    });
  }

  /** Everything that carries the name of this home, complete or not. */
  async list(signal?: AbortSignal): Promise<number[]> {
    const { home, router } = this.#options;
    const named = listNamespaces().flatMap((name) => agentOfNamespace(home, name) ?? []);
    const linked = router.exists() ? await this.#look(signal) : [];
    return [...new Set([...named, ...linked])].sort((a, b) => a - b);
  }

  /** Links that were complete and are no longer there; forgets them. */
  async lost(signal?: AbortSignal): Promise<number[]> {
    if (this.#made.size === 0) return [];
    const seen = await this.#look(signal);
    const lost = [...this.#made].filter((agent) => !seen.has(agent) || !namespaceExists(agentNamespace(this.#options.home, agent)));
    for (const agent of lost) this.#made.delete(agent);
    return lost;
  }

  async #make(agent: number, { signal, findFirst }: Making): Promise<void> {
    this.#seen ??= await this.#look(signal);
    const first = namespaceExists(agentNamespace(this.#options.home, agent)) ? undefined : await findFirst?.();
    try {
      await (first === undefined ? this.#connect(agent, signal) : this.#connectFirst(agent, first, signal));
    } catch {
      // Something half made, or gone since it was last seen, is in the way. What fails on clean ground is the real reason.
      await this.#clear(agent, signal);
      await this.#connect(agent, signal);
    }
    this.#made.add(agent);
  }

  /** Never into the namespace of a stranger that has got the pid meanwhile: then there is no link, and the name is gone again. */
  async #connectFirst(agent: number, first: ProcessIdentity, signal?: AbortSignal): Promise<void> {
    if (isRunning(first)) await this.#connect(agent, signal, first);
    if (isRunning(first)) return;
    await this.#clear(agent, signal);
    await removeNamespace(this.#options.tools, agentNamespace(this.#options.home, agent), signal);
    throw new AgentisoError('Unavailable', `process ${first.pid} has ended`, { reason: 'LinkFailed' });
  }

  async #connect(agent: number, signal?: AbortSignal, first?: ProcessIdentity): Promise<void> {
    const { home, tools, router } = this.#options;
    const name = agentNamespace(home, agent);
    const options = signal ? { signal } : {};
    const isNew = !namespaceExists(name);
    const isMadeAnew = !isNew && !this.#seen?.has(agent);
    const lines = [
      ...(isNew ? [first === undefined ? addNamespaceLine(name) : nameNamespaceLine(name, first)] : []),
      ...(this.#seen?.has(agent) ? [] : [addLinkLine(agent, namespacePath(name))]),
      ...routerLines(agent),
    ];
    await runIp(tools, { lines, inside: router.name, ...options });
    this.#note(agent, true);
    await runIp(tools, { lines: agentLines(agent), inside: name, ...options });
    // A machine that lives there would be cut off.
    if (isMadeAnew && (await linkNames(tools, name, signal)).includes(TAP)) await joinMachine(tools, { inside: name, ...options });
  }

  /** Keeps the namespace: a workspace may live in it. */
  async #clear(agent: number, signal?: AbortSignal): Promise<void> {
    const { home, tools } = this.#options;
    const name = agentNamespace(home, agent);
    if ((await this.#look(signal)).has(agent)) await this.#deleteLink(agent, signal);
    if (!namespaceExists(name) || !(await linkNames(tools, name, signal)).includes('eth0')) return;
    await runIp(tools, { lines: ['link del eth0'], inside: name, ...(signal ? { signal } : {}) });
  }

  async #deleteLink(agent: number, signal?: AbortSignal): Promise<void> {
    const { tools, router } = this.#options;
    try {
      await runIp(tools, { lines: [`link del ${linkOf(agent)}`], inside: router.name, ...(signal ? { signal } : {}) });
    } catch (error) {
      // It may have gone with its namespace meanwhile.
      if ((await this.#look(signal)).has(agent)) throw error;
    }
    this.#note(agent, false);
  }

  async #look(signal?: AbortSignal): Promise<Set<number>> {
    const meanwhile = new Map<number, boolean>();
    this.#looks.add(meanwhile);
    try {
      const names = await linkNames(this.#options.tools, this.#options.router.name, signal);
      const seen = new Set(names.flatMap((name) => agentOfLink(name) ?? []));
      for (const [agent, isThere] of meanwhile) setMember(seen, agent, isThere);
      this.#seen = seen;
      return seen;
    } finally {
      this.#looks.delete(meanwhile);
    }
  }

  #note(agent: number, isThere: boolean): void {
    if (this.#seen) setMember(this.#seen, agent, isThere);
    for (const meanwhile of this.#looks) meanwhile.set(agent, isThere);
  }

  /** One thing at a time for each agent. */
  async #alone<T>(agent: number, work: () => Promise<T>): Promise<T> {
    const before = this.#busy.get(agent) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#busy.set(agent, mine);
    try {
      return await mine;
    } finally {
      if (this.#busy.get(agent) === mine) this.#busy.delete(agent);
    }
  }
}

function setMember(set: Set<number>, member: number, isThere: boolean): void {
  if (isThere) set.add(member);
  else set.delete(member);
}

function addLinkLine(agent: number, namespace: string): string {
  return `link add ${linkOf(agent)} address ${GATEWAY_MAC} type veth peer name eth0 address ${macOf(agent)} netns ${namespace}`;
}

function routerLines(agent: number): string[] {
  const [link, address] = [linkOf(agent), addressOf(agent)];
  return [
    ...withoutIpv6(link),
    `link set ${link} up`,
    `route replace ${address}/32 dev ${link}`,
    // Both neighbours are given: no ARP, and no limit on how many the kernel remembers.
    `neigh replace ${address} lladdr ${macOf(agent)} dev ${link} nud permanent`,
  ];
}

function agentLines(agent: number): string[] {
  return [
    'link set lo up',
    ...withoutIpv6('eth0'),
    'link set eth0 up',
    `addr replace ${addressOf(agent)}/32 dev eth0`,
    `route replace ${GATEWAY} dev eth0 scope link`,
    `neigh replace ${GATEWAY} lladdr ${GATEWAY_MAC} dev eth0 nud permanent`,
    `route replace default via ${GATEWAY} dev eth0`,
  ];
}

/** A kernel without IPv6 does not know the setting. */
function withoutIpv6(link: string): string[] {
  return existsSync('/proc/sys/net/ipv6') ? [`link set ${link} addrgenmode none`] : [];
}
