/**
 * The leader lock: one Lease, taken by compare-and-swap.
 * Nobody compares clocks between machines: a lease has expired when its record stayed the same for its duration, measured here.
 */
import type { ObjectKey } from '#api/meta.ts';
import { systemClock } from '#lib/clock.ts';
import { ignoreNotFound, isCode } from '#lib/errors.ts';
import { equalJson } from '#lib/json.ts';
import { holdLease, type Leadership } from './leadership.ts';
import { type Lease, type LeaseDeps, newLease, takenLease } from './lease.ts';
import { sleep } from './sleep.ts';

type Defaulted = 'leaseDurationSeconds' | 'clock' | 'nowMs' | 'sleep';
export type LeaderOptions = Omit<LeaseDeps, Defaulted> & Partial<Pick<LeaseDeps, Defaulted>>;

export interface LeaderLock {
  /** Waits until this process leads; undefined when the signal aborted first. */
  acquire(signal: AbortSignal): Promise<Leadership | undefined>;
}

const LEASE_DURATION_SECONDS = 15;

export function createLeaderLock(options: LeaderOptions): LeaderLock {
  const defaults = { leaseDurationSeconds: LEASE_DURATION_SECONDS, clock: systemClock, nowMs: () => performance.now(), sleep };
  const deps: LeaseDeps = { ...defaults, ...options };
  return {
    async acquire(signal) {
      const candidate = new Candidate(deps);
      while (!signal.aborted) {
        const startedMs = deps.nowMs();
        const lease = await candidate.try();
        if (lease) return holdLease(deps, lease, startedMs);
        await candidate.wait(signal);
      }
      return undefined;
    },
  };
}

class Candidate {
  readonly #deps: LeaseDeps;
  readonly #key: ObjectKey;
  #observed: { readonly lease: Lease; readonly sinceMs: number } | undefined;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
    this.#key = { kind: 'Lease', namespace: deps.namespace, name: deps.name };
  }

  /** The lease, if it could be taken now. */
  async try(): Promise<Lease | undefined> {
    const { client, log } = this.#deps;
    try {
      const lease = await ignoreNotFound(client.get<Lease>(this.#key));
      if (!lease) return await client.create<Lease>(newLease(this.#deps));
      this.#observe(lease);
      return this.#msLeft(lease) <= 0 ? await client.update<Lease>(takenLease(this.#deps, lease)) : undefined;
    } catch (error) {
      if (!isCode(error, 'Conflict') && !isCode(error, 'AlreadyExists')) log.warn({ err: error }, 'leader lease not reached');
      return undefined;
    }
  }

  /** Until the lease changes, could have expired, or should be looked at again after a failure. */
  async wait(signal: AbortSignal): Promise<void> {
    const retryMs = (this.#deps.leaseDurationSeconds * 1_000) / 3;
    const observed = this.#observed?.lease;
    const leftMs = observed ? this.#msLeft(observed) : retryMs;
    const ended = new AbortController();
    const end = () => ended.abort();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    const changed = this.#changed(observed, ended.signal, end);
    await this.#deps.sleep(leftMs > 0 ? Math.min(leftMs, retryMs) : retryMs, ended.signal);
    end();
    await changed;
    signal.removeEventListener('abort', end);
  }

  /** Calls back when the lease is no longer the observed one. */
  async #changed(observed: Lease | undefined, signal: AbortSignal, onChange: () => void): Promise<void> {
    const { namespace, name } = this.#key;
    try {
      const options = { namespace, fieldSelector: `metadata.name=${name}`, signal };
      for await (const { object } of this.#deps.client.watch<Lease>('Lease', options)) {
        if (object.metadata.resourceVersion !== observed?.metadata.resourceVersion) return onChange();
      }
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'leader lease not watched');
    }
  }

  #observe(lease: Lease): void {
    const same = this.#observed && equalJson(this.#observed.lease.spec, lease.spec);
    this.#observed = { lease, sinceMs: same && this.#observed ? this.#observed.sinceMs : this.#deps.nowMs() };
  }

  #msLeft({ spec }: Lease): number {
    if (!spec.holderIdentity || spec.holderIdentity === this.#deps.identity) return 0;
    const sinceMs = this.#observed?.sinceMs ?? this.#deps.nowMs();
    return sinceMs + spec.leaseDurationSeconds * 1_000 - this.#deps.nowMs();
  }
}
