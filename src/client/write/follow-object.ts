/** One object until something is true of it: a list, then a watch from its version, again and again; never a poll. */

import { backoffMs } from '#lib/backoff.ts';
import { isCode } from '#lib/errors.ts';
import type { Connection } from '../connection.ts';
import { type ApiObject, listObjects, resourcePath, watchEvents } from '../resource-api.ts';
import type { Target } from './target.ts';

export interface Follow {
  readonly connection: Connection;
  readonly target: Target;
  readonly signal: AbortSignal;
  /** Undefined: the object is not there. */
  readonly isDone: (object: ApiObject | undefined) => boolean;
  /** How long nobody may answer before that is told: long enough for a restart. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 30_000;

/** The object as it was when it was done; undefined when it was gone by then. Throws when the signal aborts first. */
export async function followObject(follow: Follow): Promise<ApiObject | undefined> {
  const { signal, patienceMs = PATIENCE_MS } = follow;
  let failingSince: number | undefined;
  for (let failures = 0; ; failures++) {
    signal.throwIfAborted();
    try {
      const found = await lookAndWatch(follow, {
        onAnswer: () => {
          failingSince = undefined;
        },
        onEvent: () => {
          failures = 0;
        },
      });
      if (found) return found.object;
    } catch (error) {
      signal.throwIfAborted();
      failingSince ??= performance.now();
      if (!isPassing(error) || performance.now() - failingSince > patienceMs) throw error;
    }
    // A server that ends every watch at once, or is being restarted, is asked again at a calm pace.
    if (failures > 0) await pause(backoffMs(failures, { baseMs: 50, maxMs: 2000 }), signal);
  }
}

type Found = { readonly object: ApiObject | undefined };

interface Progress {
  onAnswer(): void;
  onEvent(): void;
}

/** Nothing when the server has ended the watch. */
async function lookAndWatch({ connection, target, signal, isDone }: Follow, progress: Progress): Promise<Found | undefined> {
  const { resource, namespace, name } = target;
  const query = { fieldSelector: `metadata.name=${name}` };
  const { items, resourceVersion } = await listObjects(connection, { resource, location: { namespace, query }, pageSize: 0, signal });
  progress.onAnswer();
  const first = items[0];
  if (isDone(first)) return { object: first };
  const path = resourcePath(resource, { namespace, query: { ...query, watch: true, resourceVersion } });
  for await (const { type, object } of watchEvents(connection, { path, signal })) {
    progress.onEvent();
    if (type === 'BOOKMARK') continue;
    const current = type === 'DELETED' ? undefined : object;
    if (isDone(current)) return { object: current };
  }
  return undefined;
}

/** Too old a version: list again. Nobody there: it may come back. */
function isPassing(error: unknown): boolean {
  return isCode(error, 'Expired') || isCode(error, 'Unavailable') || isCode(error, 'RateLimited');
}

function pause(timeMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, timeMs);
    signal.addEventListener('abort', end, { once: true });
  });
}
