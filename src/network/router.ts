/**
 * The router: a network namespace of its own for each home, so that forwarding, routes and rules of the machine stay as they are.
 * Nothing is forwarded before the rules that deny everything are in place.
 */
import { AgentisoError } from '#lib/errors.ts';
import { AGENT_RANGE, GATEWAY, routerNamespace, uplinkOf } from './addresses.ts';
import { addNamespaceLine, linkNames, namespaceExists, namespaceId, namespacePath, removeNamespace, runIp } from './namespaces.ts';
import { Nft } from './nft.ts';
import { NO_ELEMENTS, renderRuleset } from './ruleset.ts';
import { run } from './run.ts';
import type { Tools } from './tools.ts';

export class Router {
  readonly name: string;
  readonly nft: Nft;
  readonly #home: string;
  readonly #tools: Tools;
  #ensuring: Promise<boolean> | undefined;
  #uplink: Promise<void> | undefined;
  /** Of the namespace that was made ready; undefined before. */
  #id: number | undefined;

  constructor(home: string, tools: Tools) {
    this.#home = home;
    this.#tools = tools;
    this.name = routerNamespace(home);
    this.nft = new Nft({ tools, namespace: namespacePath(this.name) });
  }

  exists(): boolean {
    return namespaceExists(this.name);
  }

  /** True when it had to be made anew: then no link leads to it yet. Callers share one attempt. */
  async ensure(): Promise<boolean> {
    if (this.#id !== undefined && this.#id === namespaceId(this.name)) return false;
    this.#ensuring ??= this.#make().finally(() => {
      this.#ensuring = undefined;
    });
    return this.#ensuring;
  }

  async remove(signal?: AbortSignal): Promise<void> {
    this.#id = undefined;
    await removeNamespace(this.#tools, this.name, signal);
  }

  /** The way out, only where the operator wants one. Routes, forwarding and rules of the host are his. Callers share one attempt. */
  async ensureUplink(): Promise<void> {
    this.#uplink ??= this.#makeUplink();
    try {
      await this.#uplink;
    } catch (error) {
      this.#uplink = undefined;
      throw error;
    }
  }

  async #makeUplink(): Promise<void> {
    const { link, host, router } = uplinkOf(this.#home);
    const isThere = (await linkNames(this.#tools, this.name)).includes('up0');
    const add = isThere ? [] : [`link add ${link} type veth peer name up0 netns ${namespacePath(this.name)}`];
    await runIp(this.#tools, { lines: [...add, `addr replace ${host}/30 dev ${link}`, `link set ${link} up`] });
    const inside = ['link set up0 up', `addr replace ${router}/30 dev up0`, `route replace default via ${host} dev up0`];
    await runIp(this.#tools, { lines: inside, inside: this.name });
  }

  async #make(): Promise<boolean> {
    const found = namespaceId(this.name);
    const isNew = found === undefined || (this.#id !== undefined && this.#id !== found);
    if (isNew) this.#uplink = undefined;
    if (found === undefined) await runIp(this.#tools, { lines: [addNamespaceLine(this.name)] });
    if ((await this.nft.list()) === undefined) await this.nft.apply(renderRuleset(NO_ELEMENTS));
    const lines = [
      'link set lo up',
      `addr replace ${GATEWAY}/32 dev lo`,
      // What has no other way is led through the rules, which refuse and count it.
      `route replace ${AGENT_RANGE} dev lo`,
      'route replace default dev lo metric 1000',
    ];
    await runIp(this.#tools, { lines, inside: this.name });
    await this.#forward();
    this.#id = namespaceId(this.name);
    return isNew;
  }

  /** The setting belongs to the namespace of whoever writes it, which must be the router's. */
  async #forward(): Promise<void> {
    const command = 'echo 1 > /proc/sys/net/ipv4/ip_forward';
    const { code, stderr } = await run([this.#tools.nsenter, `--net=${namespacePath(this.name)}`, '--', '/bin/sh', '-c', command]);
    if (code !== 0) throw new AgentisoError('Unavailable', `forwarding cannot be switched on: ${stderr.trim()}`, { reason: 'LinkFailed' });
  }
}
