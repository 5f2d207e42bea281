/** For how long each attempt may stay silent. In memory: after a restart of the daemon every attempt has a full lease again. */

export const LEASE_MS = 30_000;

export class Leases {
  /** attempt → when it was last known to be in good hands, by the clock of performance.now() */
  readonly #renewedMs = new Map<string, number>();

  /** What is left of it; one that is not known yet begins now. */
  leftMs(attempt: string, { nowMs, seenMs }: { readonly nowMs: number; readonly seenMs: number | undefined }): number {
    const renewedMs = Math.max(this.#renewedMs.get(attempt) ?? nowMs, seenMs ?? Number.NEGATIVE_INFINITY);
    this.#renewedMs.set(attempt, renewedMs);
    return renewedMs + LEASE_MS - nowMs;
  }

  forget(attempt: string): void {
    this.#renewedMs.delete(attempt);
  }
}
