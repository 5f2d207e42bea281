/**
 * Whether the list of files in a directory can be believed. A file on its way between two folders can be missing from both, so only a
 * list that stays the same says that a file is gone; and a directory that was away, or is another one now, may still be filling. Pure.
 */

export interface Listing {
  /** All of them, as one text. */
  readonly names: string;
  /** Of the directory; undefined when it could not be listed. */
  readonly identity: string | undefined;
  readonly sinceMs: number;
  readonly patienceMs: number;
  /** How long until it is believed. */
  readonly waitMs: number;
}

const STEADY_MS = 100;
const REPLACED_MS = 5_000;

export function nextListing(before: Listing | undefined, names: string, identity: string | undefined, nowMs: number): Listing {
  const isReplaced = before !== undefined && before.identity !== identity;
  const isSame = !isReplaced && before?.names === names;
  const sinceMs = isSame ? before.sinceMs : nowMs;
  // Patience lasts until it was rewarded.
  const patienceMs = isReplaced ? REPLACED_MS : before && before.waitMs > 0 ? before.patienceMs : STEADY_MS;
  return { names, identity, sinceMs, patienceMs, waitMs: Math.max(0, sinceMs + patienceMs - nowMs) };
}
