/** Waiting until every one of many watchers has seen the same change. */
import { BenchError } from '../harness/operation.ts';

const LOST_AFTER_MS = 10_000;

export interface AllArrived<T> {
  /** For the callback of watcher number `watcher`. */
  arrive(watcher: number, event: T): void;
  /** Starts `cause`; resolves to the ms until the last watcher had a matching event. Throws when one of them lost it or got it twice. */
  time(matches: (event: T) => boolean, cause: () => Promise<unknown>): Promise<number>;
}

export function awaitAll<T>(watchers: number): AllArrived<T> {
  let onEvent: (watcher: number, event: T, atMs: number) => void = () => undefined;
  return {
    arrive: (watcher, event) => onEvent(watcher, event, performance.now()),
    async time(matches, cause) {
      const seen = new Set<number>();
      let timer: NodeJS.Timeout | undefined;
      let start = 0;
      const arrived = new Promise<number>((resolve, reject) => {
        timer = setTimeout(() => reject(new BenchError(`${watchers - seen.size} watchers lost an event`)), LOST_AFTER_MS);
        onEvent = (watcher, event, atMs) => {
          if (!matches(event)) return;
          if (seen.has(watcher)) reject(new BenchError('a watcher got an event twice'));
          if (seen.add(watcher).size === watchers) resolve(atMs - start);
        };
      });
      try {
        start = performance.now();
        const [elapsed] = await Promise.all([arrived, cause()]);
        return elapsed;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}
