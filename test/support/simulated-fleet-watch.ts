/** How far a fleet is, kept from its changes: counting thousands of objects again and again would disturb what is measured. */
import { setTimeout as delay } from 'node:timers/promises';
import { formatKey, type KindObject, keyOf } from '#api/meta.ts';
import type { Agent, Task } from '#api/types.ts';
import type { Client } from '#client/client.ts';

export interface FleetCounts {
  readonly ready: number;
  readonly succeeded: number;
  readonly failed: number;
}

export interface FleetWatch {
  readonly counts: FleetCounts;
  /** By performance.now(): when anything was last written. */
  readonly lastChangeMs: number;
  /** Resolves when it holds, looked at with every change; rejects, with how far it came, when that takes too long. */
  until(isSo: (counts: FleetCounts) => boolean, timeoutMs: number): Promise<void>;
  /** Resolves when nothing was written for a while: nothing is on its way any more. */
  quiet(timeoutMs: number): Promise<void>;
  /** Hears of every version of every Team, Agent and Task. */
  onObject(listener: (object: KindObject) => void): () => void;
  close(): void;
}

const KINDS = ['Team', 'Agent', 'Task'];
/** Longer than controllers gather changes. */
const QUIET_MS = 1_500;

export function watchFleet(client: Client): FleetWatch {
  const stopping = new AbortController();
  const marks = new Map<string, keyof FleetCounts>();
  const counts = { ready: 0, succeeded: 0, failed: 0 };
  const listeners = new Set<(object: KindObject) => void>();
  let lastChangeMs = performance.now();
  const take = (object: KindObject, isGone: boolean) => {
    lastChangeMs = performance.now();
    const id = formatKey(keyOf(object));
    const [before, after] = [marks.get(id), isGone ? undefined : markOf(object)];
    if (before) counts[before]--;
    if (after) counts[after]++;
    if (after) marks.set(id, after);
    else marks.delete(id);
    for (const listener of listeners) listener(object);
  };
  for (const kind of KINDS) void follow(client, kind, stopping.signal, take);
  const onObject = (listener: (object: KindObject) => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return {
    counts,
    get lastChangeMs() {
      return lastChangeMs;
    },
    onObject,
    until(isSo, timeoutMs) {
      if (isSo(counts)) return Promise.resolve();
      return new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          unsubscribe();
        };
        const timer = setTimeout(() => {
          end();
          reject(new Error(`after ${timeoutMs / 1_000} s: ${JSON.stringify(counts)}`));
        }, timeoutMs);
        const unsubscribe = onObject(() => {
          if (!isSo(counts)) return;
          end();
          resolve();
        });
      });
    },
    async quiet(timeoutMs) {
      const deadline = performance.now() + timeoutMs;
      while (performance.now() - lastChangeMs < QUIET_MS) {
        if (performance.now() > deadline) throw new Error(`after ${timeoutMs / 1_000} s there are still changes`);
        await delay(QUIET_MS / 10);
      }
    },
    close: () => stopping.abort(),
  };
}

async function follow(
  client: Client,
  kind: string,
  signal: AbortSignal,
  take: (object: KindObject, isGone: boolean) => void,
): Promise<void> {
  for await (const { type, object } of client.watch(kind, { signal })) take(object, type === 'DELETED');
}

function markOf(object: KindObject): keyof FleetCounts | undefined {
  if (object.kind === 'Agent') return isReady(object as Agent) ? 'ready' : undefined;
  const { phase } = (object as Task).status ?? {};
  if (object.kind !== 'Task') return undefined;
  return phase === 'Succeeded' ? 'succeeded' : phase === 'Failed' ? 'failed' : undefined;
}

function isReady({ status }: Agent): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;
}
