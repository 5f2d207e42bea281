/** Waiting for one event at a time and noting when it arrived. */
import { BenchError } from '../harness/operation.ts';

const LOST_AFTER_MS = 10_000;

export interface Awaited<T> {
  /** For the watcher's callback. */
  arrive(event: T): void;
  /** Starts `cause`, if it has not happened just before; resolves to the ms until an event matched. Throws when none came in 10 s: a lost event has no latency. */
  time(matches: (event: T) => boolean, cause?: () => unknown): Promise<number>;
}

export function awaitEvents<T>(): Awaited<T> {
  let onEvent: (event: T, atMs: number) => void = () => undefined;
  return {
    // The clock is read first: what we do with the event is not part of its way here.
    arrive: (event) => onEvent(event, performance.now()),
    async time(matches, cause) {
      let timer: NodeJS.Timeout | undefined;
      let start = 0;
      const arrived = new Promise<number>((resolve, reject) => {
        timer = setTimeout(() => reject(new BenchError('an event was lost')), LOST_AFTER_MS);
        onEvent = (event, atMs) => {
          if (matches(event)) resolve(atMs - start);
        };
      });
      try {
        start = performance.now();
        const [elapsed] = await Promise.all([arrived, cause?.()]);
        return elapsed;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
