/** The first changes of a watch: those that come together are given together. */
import type { Connection } from '#client/connection.ts';
import { type ApiObject, type WatchAnswer, watchEvents } from '#client/resource-api.ts';
import { deadlineIn } from '#client/write/deadline.ts';

export interface Collecting {
  /** With `watch=true` and the version to begin after. */
  readonly path: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly most: number;
}

export interface Collected {
  readonly events: readonly WatchAnswer<ApiObject>[];
  /** The newest version that was heard of. */
  readonly version: string | undefined;
}

/** After the first change, for those that come with it. */
const TOGETHER_MS = 50;

export async function collectChanges(connection: Connection, { path, timeoutMs, signal, most }: Collecting): Promise<Collected> {
  const over = deadlineIn(timeoutMs);
  const together = new AbortController();
  const ended = AbortSignal.any([signal, over.signal, together.signal]);
  const events: WatchAnswer<ApiObject>[] = [];
  let version: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  try {
    for await (const event of watchEvents(connection, { path, signal: ended })) {
      version = event.object.metadata.resourceVersion ?? version;
      if (event.type === 'BOOKMARK') continue;
      events.push(event);
      if (events.length === most) break;
      timer ??= setTimeout(() => together.abort(), TOGETHER_MS);
    }
  } catch (error) {
    if (signal.aborted || !ended.aborted) throw error;
  } finally {
    clearTimeout(timer);
    over.clear();
    together.abort();
  }
  signal.throwIfAborted();
  return { events, version };
}
