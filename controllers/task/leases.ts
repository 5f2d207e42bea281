/**
 * What this process knows of each attempt: for how long it may stay silent, and since when it is in its agent's hands. In memory: after a
 * restart of the daemon every attempt has a full lease again.
 */

import type { Task } from '#api/types.ts';
import type { WithStatus } from '#runtime/controller.ts';

export const LEASE_MS = 30_000;
/** Of a command that ends sooner nobody could have read that it runs, and everybody who watches would have heard of it. */
export const QUICK_MS = 50;
/** A holder that has so little left has missed a heartbeat. */
const SILENT_LEFT_MS = 15_000;

/** As of now; later renewals are kept in memory. Pure. */
export function leaseTimes(renewed: Date): { readonly renewTime: string; readonly expires: string } {
  return { renewTime: renewed.toISOString(), expires: new Date(renewed.getTime() + LEASE_MS).toISOString() };
}

/** Written only when its holder falls silent: a status that changes with every heartbeat would be heard of by everybody. */
export function showSilence({ status }: WithStatus<Task>, leftMs: number, now: Date): void {
  if (!status.lease || leftMs <= 0 || leftMs > SILENT_LEFT_MS) return;
  const times = leaseTimes(new Date(now.getTime() + leftMs - LEASE_MS));
  // Two clocks tell the same moment a little differently.
  if (Math.abs(Date.parse(status.lease.expires ?? '') - Date.parse(times.expires)) < 1_000) return;
  status.lease = { ...status.lease, ...times };
}

export class Leases {
  /** attempt → when it was last known to be in good hands, by the clock of awakeMs() */
  readonly #renewedMs = new Map<string, number>();
  readonly #handed = new Map<string, Handed>();

  /** What is left of it; one that is not known yet begins now. */
  leftMs(attempt: string, { nowMs, seenMs }: { readonly nowMs: number; readonly seenMs: number | undefined }): number {
    const renewedMs = Math.max(this.#renewedMs.get(attempt) ?? nowMs, seenMs ?? Number.NEGATIVE_INFINITY);
    this.#renewedMs.set(attempt, renewedMs);
    return renewedMs + LEASE_MS - nowMs;
  }

  handOver(attempt: string, handed: Handed): void {
    this.#handed.set(attempt, handed);
  }

  /** Undefined where it was not this process, or nobody has. */
  handedOver(attempt: string): Handed | undefined {
    return this.#handed.get(attempt);
  }

  forget(attempt: string): void {
    this.#renewedMs.delete(attempt);
    this.#handed.delete(attempt);
  }
}

/** The same moment by both clocks. */
export interface Handed {
  readonly at: string;
  readonly monotonicMs: number;
}
