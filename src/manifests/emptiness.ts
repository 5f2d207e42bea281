/**
 * When to believe a directory that holds no manifest at all. An unmounted volume leaves an empty folder, a deployment may empty a
 * folder before it fills it, a clone may still be under way: none of them is a wish to delete everything. Pure.
 */

/** The same folder had manifests a moment ago: they were removed, or are being replaced. */
const EMPTIED_MS = 2_000;
/** Never seen otherwise by this process: seen empty at two relists. */
const FOUND_EMPTY_MS = 30_000;

export interface Emptiness {
  readonly sinceMs: number;
  readonly nowMs: number;
  /** Of the folder, now and when it last had manifests. */
  readonly identity: string;
  readonly filledIdentity: string | undefined;
}

/** How long until it is believed; never, when another folder took the place of the one that had manifests. */
export function emptyForMs({ sinceMs, nowMs, identity, filledIdentity }: Emptiness): number {
  if (filledIdentity !== undefined && filledIdentity !== identity) return Number.POSITIVE_INFINITY;
  const patienceMs = filledIdentity === undefined ? FOUND_EMPTY_MS : EMPTIED_MS;
  return Math.max(0, sinceMs + patienceMs - nowMs);
}
