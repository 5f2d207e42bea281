/** Hears of changes to objects of a kind, again after every interruption. */
import type { KindObject } from '#api/meta.ts';
import type { Client, WatchEvent } from '#client/client.ts';
import type { Logger } from '#lib/log.ts';

export interface ObjectWatchOptions {
  readonly client: Client;
  readonly onEvent: (event: WatchEvent<KindObject>) => void;
  /** Events may have been missed. */
  readonly onGap: () => void;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

const RETRY_MS = 1_000;

/** Resolves when the signal aborts. */
export async function watchObjects(kind: string, { client, onEvent, onGap, signal, log }: ObjectWatchOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const event of client.watch<KindObject>(kind, { signal })) onEvent(event);
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error, kind }, 'watch of declared objects ended, started again');
    }
    if (signal.aborted) return;
    onGap();
    await pause(signal);
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, RETRY_MS);
    signal.addEventListener('abort', end, { once: true });
  });
}
