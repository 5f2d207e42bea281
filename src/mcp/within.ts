/** Work with a deadline, which ends at once when nobody wants its answer any more, whether it listens or not. */
import { AgentisoError } from '#lib/errors.ts';

/** `work` gets a signal that aborts at the deadline and with the given one. Rejects with Timeout, or with the reason of the given signal. */
export function within<T>(limitMs: number, outer: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController();
  return new Promise<T>((resolve, reject) => {
    const stop = (reason: unknown) => {
      leave();
      reject(reason);
      ending.abort(reason);
    };
    const cancel = () => stop(outer.reason);
    const timer = setTimeout(() => stop(new AgentisoError('Timeout', `the call took longer than its ${limitMs / 1_000} s`)), limitMs);
    const leave = () => {
      clearTimeout(timer);
      outer.removeEventListener('abort', cancel);
    };
    if (outer.aborted) {
      cancel();
      return;
    }
    outer.addEventListener('abort', cancel, { once: true });
    const working = async () => work(ending.signal);
    working().then(
      (value) => {
        leave();
        resolve(value);
      },
      (error: unknown) => {
        leave();
        reject(error);
      },
    );
  });
}
