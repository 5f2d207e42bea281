/** When a guest that nobody stops ends by itself: it belongs to no daemon, so nothing else would ever end it. */
import { monotonicMs } from './monotonic.ts';

const LOOK_EVERY_MS = 5_000;
const LONELY_MS = 600_000;

export interface Life {
  /** False: the run directory or a socket in it is gone, so that no host can come any more. */
  isReachable(): boolean;
  /** Whether a host is connected or anything runs. */
  isNeeded(): boolean;
  stop(reason: string): void;
}

export interface LifetimeTimes {
  readonly lookEveryMs?: number;
  readonly lonelyMs?: number;
}

/** Returns the function that ends the watch. */
export function watchLifetime(life: Life, { lookEveryMs = LOOK_EVERY_MS, lonelyMs = LONELY_MS }: LifetimeTimes = {}): () => void {
  let neededAt = monotonicMs();
  const timer = setInterval(() => {
    if (!life.isReachable()) return life.stop('its run directory is gone');
    if (life.isNeeded()) neededAt = monotonicMs();
    else if (monotonicMs() - neededAt >= lonelyMs) life.stop(`idle and without a host for ${lonelyMs / 1000} s`);
  }, lookEveryMs);
  return () => clearInterval(timer);
}
