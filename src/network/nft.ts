/** The program nft, run inside the router namespace. */
import { AgentisoError } from '#lib/errors.ts';
import { type CounterValues, type KernelRules, readCounters, readRules } from './read-back.ts';
import { TABLE } from './ruleset.ts';
import { run } from './run.ts';
import type { Tools } from './tools.ts';

export interface NftOptions {
  readonly tools: Tools;
  /** Path of the router namespace. */
  readonly namespace: string;
}

/** The monitor tells of a transaction at once: a short memory is enough. */
const REMEMBERED_PIDS = 64;

export class Nft {
  readonly #options: NftOptions;
  readonly #pids: number[] = [];

  constructor(options: NftOptions) {
    this.#options = options;
  }

  /** One transaction: all of it or nothing. */
  async apply(text: string, signal?: AbortSignal): Promise<void> {
    const { code, stderr } = await run([...this.#nft, '-f', '-'], {
      input: text,
      onPid: (pid) => this.remember(pid),
      ...(signal ? { signal } : {}),
    });
    if (code !== 0) throw new AgentisoError('Unavailable', `nft refused the rules: ${stderr.trim()}`, { reason: 'RulesRejected' });
  }

  /** Undefined: there is no table. */
  async list(signal?: AbortSignal): Promise<KernelRules | undefined> {
    const listing = await this.#json(['list', 'table', ...TABLE.split(' ')], signal);
    return listing === undefined ? undefined : readRules(listing);
  }

  async counters(signal?: AbortSignal): Promise<CounterValues> {
    return readCounters(await this.#json(['list', 'counters', 'table', ...TABLE.split(' ')], signal));
  }

  /** Whether a transaction was ours. Where the daemon sees other pids than the kernel, none is: that costs a look too many. */
  isOwn(pid: number): boolean {
    return this.#pids.includes(pid);
  }

  remember(pid: number): void {
    if (this.#pids.includes(pid)) return;
    this.#pids.push(pid);
    if (this.#pids.length > REMEMBERED_PIDS) this.#pids.shift();
  }

  get #nft(): readonly [string, ...string[]] {
    const { tools, namespace } = this.#options;
    return [tools.nsenter, `--net=${namespace}`, '--', tools.nft];
  }

  async #json(args: readonly string[], signal?: AbortSignal): Promise<unknown> {
    const { code, stdout, stderr } = await run([...this.#nft, '-j', ...args], signal ? { signal } : {});
    if (code === 0) return JSON.parse(stdout);
    if (stderr.includes('No such file or directory') && !stderr.includes('cannot open')) return undefined;
    throw new AgentisoError('Unavailable', `nft cannot list the rules: ${stderr.trim()}`, { reason: 'NetworkToolFailed' });
  }
}
