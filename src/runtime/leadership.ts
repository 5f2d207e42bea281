/** Holding the leader lease: renewed at a third of its duration, given up at two thirds without success, released at the end. */
import { keyOf } from '#api/meta.ts';
import { isCode } from '#lib/errors.ts';
import { type Lease, type LeaseDeps, releasedLease, renewedLease } from './lease.ts';
import { settlesWithin } from './sleep.ts';

export interface Leadership {
  /** Aborts when this process must no longer act as the leader. */
  readonly lost: AbortSignal;
  /** Lets the next candidate in at once. Never throws: what cannot be released expires. */
  release(): Promise<void>;
  /** Stops renewing; the lease stays ours until it expires. */
  abandon(): void;
}

/** `startedMs`: when the write that took the lease began. Others count from when they saw it, which is later. */
export function holdLease(deps: LeaseDeps, lease: Lease, startedMs: number): Leadership {
  const holder = new Holder(deps, lease, startedMs);
  const held = Promise.all([holder.renewUntilEnd(), holder.loseWhenOverdue()]);
  return {
    lost: holder.lost,
    async release() {
      holder.stop();
      // A renewal that hangs must not hold up the stop of the process.
      await settlesWithin(held, (deps.leaseDurationSeconds * 1_000) / 3);
      await holder.release();
    },
    abandon: () => holder.stop(),
  };
}

class Holder {
  readonly #deps: LeaseDeps;
  readonly #durationMs: number;
  readonly #lost = new AbortController();
  /** Stopped or lost. */
  readonly #ended = new AbortController();
  #lease: Lease;
  /** When the last renewal that succeeded began. */
  #renewedMs: number;

  constructor(deps: LeaseDeps, lease: Lease, startedMs: number) {
    this.#deps = deps;
    this.#durationMs = deps.leaseDurationSeconds * 1_000;
    this.#lease = lease;
    this.#renewedMs = startedMs;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  stop(): void {
    this.#ended.abort();
  }

  async renewUntilEnd(): Promise<void> {
    const { sleep } = this.#deps;
    const { signal } = this.#ended;
    let renewed = true;
    while (!signal.aborted) {
      await sleep(renewed ? this.#durationMs / 3 : this.#durationMs / 15, signal);
      if (!signal.aborted) renewed = await this.#renew();
    }
  }

  /** Beside the renewal, not after it: a call that hangs must not keep us leading. */
  async loseWhenOverdue(): Promise<void> {
    const { nowMs, sleep } = this.#deps;
    while (!this.#ended.signal.aborted) {
      const leftMs = this.#renewedMs + (this.#durationMs * 2) / 3 - nowMs();
      if (leftMs <= 0) this.#lose('the lease could not be renewed in time');
      else await sleep(leftMs, this.#ended.signal);
    }
  }

  async release(): Promise<void> {
    const { client, log } = this.#deps;
    try {
      if (this.#lease.spec.holderIdentity === this.#deps.identity) await client.update<Lease>(releasedLease(this.#deps, this.#lease));
    } catch (error) {
      log.debug({ err: error }, 'leader lease not released');
    }
  }

  async #renew(): Promise<boolean> {
    const { client, log, nowMs } = this.#deps;
    const startedMs = nowMs();
    try {
      this.#lease = await client.update<Lease>(renewedLease(this.#deps, this.#lease));
      this.#renewedMs = startedMs;
      return true;
    } catch (error) {
      if (isCode(error, 'NotFound')) this.#lose('the lease was deleted');
      else if (isCode(error, 'Conflict')) await this.#refresh();
      else log.warn({ err: error }, 'leader lease not renewed');
      return false;
    }
  }

  /** Somebody wrote the lease: another holder, or a label that does not concern us. */
  async #refresh(): Promise<void> {
    const { client, identity, log } = this.#deps;
    try {
      this.#lease = await client.get<Lease>(keyOf(this.#lease));
      if (this.#lease.spec.holderIdentity !== identity) this.#lose(`${this.#lease.spec.holderIdentity || 'nobody'} holds the lease`);
    } catch (error) {
      log.warn({ err: error }, 'leader lease not read');
    }
  }

  #lose(why: string): void {
    if (this.#ended.signal.aborted) return;
    this.#deps.log.warn({ why }, 'leadership lost');
    this.#ended.abort();
    this.#lost.abort();
  }
}
