/**
 * Verifications and preparations under way: a few at once, each in a workspace that was made for nothing else. Nothing has to be remembered over
 * the end of the daemon but which scratch workspaces there are, so that they are removed.
 */
import type { Driver } from '#drivers/driver.ts';
import type { GuestClient } from '#guest/client.ts';
import { isCode, messageOf, WaitingError } from '#lib/errors.ts';
import type { Logger } from '#lib/log.ts';
import type { Key, Wake } from '#runtime/controller.ts';
import type { ScratchRecord, ScratchRecords } from './verify-records.ts';
import { openScratch, removeScratch, type ScratchPlan } from './verify-scratch.ts';

export interface RunsOptions {
  readonly records: ScratchRecords;
  readonly drivers: readonly Driver[];
  readonly log: Logger;
  /** What it is called in messages, and the reason for one that was cut short; those of a verification when absent. */
  readonly words?: { readonly work: string; readonly interrupted: string };
}

export interface Asked {
  /** Of the object that asks. */
  readonly uid: string;
  readonly key: Key;
  /** What of it is verified: another one ends the run of the one before. */
  readonly version: string;
}

interface Run<T> {
  readonly version: string;
  readonly leaving: AbortController;
  over?: Promise<unknown>;
  outcome?: { readonly value: T } | { readonly error: unknown };
}

const VERIFICATION = { work: 'verification', interrupted: 'VerificationInterrupted' };
const MAX_AT_ONCE = 2;
const CLOSE_MS = 30_000;
/** After somebody was out of reach. */
export const RETRY_MS = 1_000;

export class VerificationRuns<T> {
  readonly #options: RunsOptions;
  readonly #words: NonNullable<RunsOptions['words']>;
  readonly #listeners = new Set<(key: Key) => void>();
  readonly #runs = new Map<string, Run<T>>();
  readonly #slots = new Slots(MAX_AT_ONCE);
  readonly #under = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();
  readonly #removing = new AbortController();

  /** Removes at once, in the background, what an earlier daemon has left. */
  constructor(options: RunsOptions) {
    this.#options = options;
    this.#words = options.words ?? VERIFICATION;
    void this.#follow(this.#removeLeftovers());
  }

  /** Begins, or says how it went; undefined while it runs. What it failed with is thrown once: the next call begins anew. */
  ask(asked: Asked, work: (signal: AbortSignal) => Promise<T>): T | undefined {
    const known = this.#runs.get(asked.uid);
    if (known?.version !== asked.version) {
      known?.leaving.abort();
      this.#start(asked, work);
      return undefined;
    }
    if (known.outcome === undefined) return undefined;
    if ('value' in known.outcome) return known.outcome.value;
    this.#runs.delete(asked.uid);
    throw known.outcome.error;
  }

  forget(uid: string): void {
    this.#runs.get(uid)?.leaving.abort();
    this.#runs.delete(uid);
  }

  /** The same, and resolves when nothing of it is left. */
  async end(uid: string): Promise<void> {
    const over = this.#runs.get(uid)?.over;
    this.forget(uid);
    await over;
  }

  readonly wake: Wake = (enqueue) => {
    this.#listeners.add(enqueue);
    return () => this.#listeners.delete(enqueue);
  };

  /** Ends what runs; no scratch workspace is left when it resolves. */
  async close(): Promise<void> {
    this.#stopping.abort();
    const timer = setTimeout(() => this.#removing.abort(), CLOSE_MS);
    await Promise.allSettled(this.#under);
    clearTimeout(timer);
  }

  /** The workspace is gone when it resolves. */
  async inScratch<R>(
    { about, ...plan }: Omit<ScratchPlan, 'id'> & { readonly about: Omit<ScratchRecord, 'id' | 'driver'> },
    use: (guest: GuestClient, id: string) => Promise<R>,
    signal: AbortSignal,
  ): Promise<R> {
    const record = await this.#options.records.add({ driver: plan.driver.name, ...about });
    try {
      const scratch = await openScratch({ id: record.id, ...plan }, signal);
      try {
        return await use(scratch, record.id);
      } finally {
        scratch.close(`the ${this.#words.work} is over`);
      }
    } finally {
      await this.#removeRecorded(record, plan.driver);
    }
  }

  #start({ uid, key, version }: Asked, work: (signal: AbortSignal) => Promise<T>): void {
    const run: Run<T> = { version, leaving: new AbortController() };
    this.#runs.set(uid, run);
    const signal = AbortSignal.any([this.#stopping.signal, run.leaving.signal]);
    run.over = this.#follow(
      this.#slots
        .run(() => work(signal), signal)
        .then(
          (value) => ({ value }),
          (error: unknown) => ({ error: toWaiting(error, this.#words) }),
        )
        .then((outcome) => {
          run.outcome = outcome;
          if (!signal.aborted) for (const listener of this.#listeners) listener(key);
        }),
    );
  }

  /** Waited for at the end of the daemon. Never rejects. */
  #follow(work: Promise<unknown>): Promise<unknown> {
    const settled: Promise<unknown> = work
      .catch((error: unknown) => this.#options.log.warn({ err: error }, 'a scratch workspace is left for the next daemon to remove'))
      .finally(() => this.#under.delete(settled));
    this.#under.add(settled);
    return settled;
  }

  async #removeRecorded(record: ScratchRecord, driver: Driver): Promise<void> {
    const { log, records } = this.#options;
    await removeScratch(record.id, driver, { log, signal: this.#removing.signal });
    await records.remove(record.id);
  }

  async #removeLeftovers(): Promise<void> {
    const { records, drivers, log } = this.#options;
    for (const record of await records.list()) {
      const driver = drivers.find(({ name }) => name === record.driver);
      if (driver) void this.#follow(this.#removeRecorded(record, driver));
      else log.warn({ ...record }, 'a scratch workspace stays: its driver is not on this machine');
    }
  }
}

/** A connection that broke, or a workspace that did not start, is no failure of anybody: it is tried again in a while. */
function toWaiting(error: unknown, { work, interrupted }: NonNullable<RunsOptions['words']>): unknown {
  if (error instanceof WaitingError || !isCode(error, 'Unavailable')) return error;
  return new WaitingError(interrupted, `the ${work} begins anew: ${messageOf(error)}`, RETRY_MS);
}

/** So many at once; the others wait in the order they came. */
class Slots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  async run<R>(work: () => Promise<R>, signal: AbortSignal): Promise<R> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
