/**
 * Staying awake for the next word of somebody who answers at once. A process that sleeps is woken by the kernel within 20 to 50 us where processors are
 * virtual, which is more than most answers take. So after an answer the event loop looks a few times for what has come before it
 * sleeps, as KVM does for guests that halt. Only where it pays: after somebody was as quick the last time. Who asks now and then costs nothing.
 */
import { availableParallelism } from 'node:os';

/** How long it looks. */
const AWAKE_MS = 0.1;
/** What counts as quick: it may have taken a while to be woken. */
const QUICK_MS = 0.2;

export interface Wakefulness {
  /** To be called when something has come from outside. */
  heard(): void;
  /** To be called when it was answered, and nothing is left to do. */
  answered(): void;
}

export interface WakefulnessOptions {
  readonly nowMs?: () => number;
  /** Calls back after the event loop has looked for what has come. */
  readonly nextTurn?: (turn: () => void) => void;
  readonly processors?: number;
}

export function stayAwake(options: WakefulnessOptions = {}): Wakefulness {
  const { nowMs = () => performance.now(), nextTurn = setImmediate, processors = availableParallelism() } = options;
  // A lone processor is needed by whoever is to ask.
  if (processors < 2) return { heard() {}, answered() {} };
  let answeredMs = Number.NEGATIVE_INFINITY;
  let isQuick = false;
  let isLooking = false;
  const look = () => {
    isLooking = nowMs() - answeredMs < AWAKE_MS;
    if (isLooking) nextTurn(look);
  };
  return {
    heard() {
      isQuick = nowMs() - answeredMs < QUICK_MS;
    },
    answered() {
      answeredMs = nowMs();
      if (!isQuick || isLooking) return;
      isLooking = true;
      nextTurn(look);
    },
  };
}
