/** The end of a waiting. A timer of our own: it must not keep the process alive when there is nothing left to wait for. */

/** The longest a timer can be told. */
const MAX_MS = 2 ** 31 - 1;

export interface Deadline {
  readonly signal: AbortSignal;
  clear(): void;
}

/** Undefined: never. */
export function deadlineIn(timeMs: number | undefined): Deadline {
  const over = new AbortController();
  const timer = timeMs === undefined ? undefined : setTimeout(() => over.abort(), Math.min(timeMs, MAX_MS));
  return { signal: over.signal, clear: () => clearTimeout(timer) };
}
