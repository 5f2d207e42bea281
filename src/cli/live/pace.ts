/** Work that is asked for often and done at most once per interval: at once when it is due, else when it will be. */

export interface Pace {
  request(): void;
  /** Whatever was asked for is forgotten. */
  stop(): void;
}

export function pace(work: () => void, intervalMs: number): Pace {
  let lastMs = Number.NEGATIVE_INFINITY;
  let waiting: NodeJS.Timeout | undefined;
  let isStopped = false;
  const run = () => {
    waiting = undefined;
    lastMs = performance.now();
    work();
  };
  return {
    request() {
      if (isStopped || waiting) return;
      const dueInMs = lastMs + intervalMs - performance.now();
      if (dueInMs <= 0) run();
      else waiting = setTimeout(run, dueInMs);
    },
    stop() {
      isStopped = true;
      clearTimeout(waiting);
    },
  };
}
