/** Waiting that a signal can end early. */

/** Longer delays would fire at once: Node keeps them in a signed 32-bit number. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Resolves after `ms` or when the signal aborts, whichever comes first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, Math.min(ms, MAX_TIMER_MS));
    signal?.addEventListener('abort', finish, { once: true });
  });
}

/** Whether `work` settles, either way, before `ms` are over or the signal aborts. */
export async function settlesWithin(work: Promise<unknown>, ms: number, signal?: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const end = () => over.abort();
  let settled = false;
  const settle = () => {
    settled = true;
    end();
  };
  work.then(settle, settle);
  if (signal?.aborted) end();
  signal?.addEventListener('abort', end, { once: true });
  // Already settled work counts, also when there is no time left for it.
  await Promise.resolve();
  await sleep(ms, over.signal);
  signal?.removeEventListener('abort', end);
  return settled;
}

/** Resolves when the first of the signals aborts. */
export function aborted(...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      for (const signal of signals) signal.removeEventListener('abort', finish);
      resolve();
    };
    if (signals.some((signal) => signal.aborted)) return resolve();
    for (const signal of signals) signal.addEventListener('abort', finish, { once: true });
  });
}
