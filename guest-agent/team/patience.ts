/** A program that asks faster than its agent may waits a moment and asks again: shells have no loop for that, and their scripts go on as if nothing was. */
import { Refusal } from './client.ts';
import type { Context } from './command.ts';

/** Altogether, for one command. */
const PATIENCE_MS = 30_000;
/** Others of the same agent may be first again and again. */
const SHORTEST_PAUSE_MS = 20;

export interface PatienceOptions {
  readonly nowMs?: () => number;
  readonly pause?: (ms: number) => Promise<void>;
}

export function patient(ask: Context['ask'], options: PatienceOptions = {}): Context['ask'] {
  const { nowMs = () => performance.now(), pause = sleep } = options;
  let waitedMs = 0;
  const waitAfter = async (error: unknown) => {
    const pauseMs = pauseAfter(error);
    if (pauseMs === undefined) throw error;
    if (waitedMs + pauseMs > PATIENCE_MS) throw tooLong(error as Refusal, waitedMs);
    const startMs = nowMs();
    await pause(pauseMs);
    waitedMs += Math.max(pauseMs, nowMs() - startMs);
  };
  return async (verb, params) => {
    for (;;) {
      try {
        return await ask(verb, params);
      } catch (error) {
        await waitAfter(error);
      }
    }
  };
}

function pauseAfter(error: unknown): number | undefined {
  if (!(error instanceof Refusal) || error.code !== 'RateLimited' || error.retryAfterMs === undefined) return undefined;
  return Math.max(error.retryAfterMs, SHORTEST_PAUSE_MS);
}

function tooLong(error: Refusal, waitedMs: number): Refusal {
  const { code, retryAfterMs } = error;
  return new Refusal(`${error.message}; waited ${Math.round(waitedMs / 1000)} s of at most ${PATIENCE_MS / 1000} s`, {
    code,
    retryAfterMs,
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
