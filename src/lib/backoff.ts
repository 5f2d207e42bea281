/** How long to wait after the n-th failure in a row. Pure: the random number comes from the caller. */

export interface BackoffOptions {
  readonly baseMs?: number;
  readonly maxMs?: number;
  /** In [0, 1). */
  readonly random?: () => number;
}

const BASE_MS = 5;
const MAX_MS = 30_000;

/** `failures` before this one: 0 gives the base, each further one doubles. Half of it is jitter, so that equals do not retry together. */
export function backoffMs(failures: number, { baseMs = BASE_MS, maxMs = MAX_MS, random = Math.random }: BackoffOptions = {}): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** failures);
  return ceiling / 2 + (ceiling / 2) * random();
}
