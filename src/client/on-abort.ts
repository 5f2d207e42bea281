/** Many requests that end with one signal: it gets one listener from all of them, as it would warn of many. */

const listening = new WeakMap<AbortSignal, Set<() => void>>();

/** What is given back takes the callback away again. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {};
  const callbacks = listening.get(signal) ?? new Set();
  const abort = () => {
    listening.delete(signal);
    for (const each of callbacks) each();
  };
  if (!listening.has(signal)) {
    listening.set(signal, callbacks);
    signal.addEventListener('abort', abort, { once: true });
  }
  callbacks.add(callback);
  return () => void callbacks.delete(callback);
}
