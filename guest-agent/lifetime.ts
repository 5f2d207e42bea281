/** When a guest that nobody stops ends by itself: it belongs to no daemon, so nothing else would ever end it. */
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
  // Looks are counted and not the time: of the time that the guest was held still it knows nothing, and its host comes right after it.
  let lonelyLooks = 0;
  const timer = setInterval(() => {
    if (!life.isReachable()) return life.stop('its run directory is gone');
    lonelyLooks = life.isNeeded() ? 0 : lonelyLooks + 1;
    if (lonelyLooks * lookEveryMs >= lonelyMs) life.stop(`idle and without a host for ${lonelyMs / 1000} s`);
  }, lookEveryMs);
  return () => clearInterval(timer);
}
