/** One object until it is settled, by a watch; a word of progress whenever it says something new. */
import type { KindObject } from '#api/meta.ts';
import { AgentisoError, NotFoundError } from '#lib/errors.ts';
import type { ToolCall } from '../tool.ts';

export interface Awaiting<T> {
  readonly timeoutMs: number;
  isSettled(object: T): boolean;
  /** One line about how far it is. */
  say(object: T): string;
}

export interface Awaited<T> {
  readonly object: T;
  /** The time was over first; the object goes on by itself. */
  readonly isTimedOut: boolean;
}

/** From the version that the caller has. Rejects when the call ends, or the object goes away. */
export async function awaitObject<T extends KindObject>(
  { client, signal, progress }: Pick<ToolCall, 'client' | 'signal' | 'progress'>,
  first: T,
  { timeoutMs, isSettled, say }: Awaiting<T>,
): Promise<Awaited<T>> {
  if (isSettled(first)) return { object: first, isTimedOut: false };
  const { name, namespace, uid, resourceVersion } = first.metadata;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), timeoutMs);
  const watch = {
    namespace,
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    signal: AbortSignal.any([signal, over.signal]),
  };
  let object = first;
  let said = '';
  try {
    for await (const { type, object: next } of client.watch<T>(first.kind, watch)) {
      if (next.metadata.uid !== uid) continue;
      if (type === 'DELETED') throw new NotFoundError(`${first.kind} ${name} was deleted while it was waited for`);
      object = next;
      if (isSettled(object)) return { object, isTimedOut: false };
      const words = say(object);
      if (words !== said) progress(words);
      said = words;
    }
  } finally {
    clearTimeout(timer);
    over.abort();
  }
  refuseEnded(signal);
  return { object, isTimedOut: true };
}

/** Nobody hears of it any more. */
export function refuseEnded(signal: AbortSignal): void {
  if (signal.aborted) throw new AgentisoError('Timeout', 'the call was ended before its answer', { cause: signal.reason });
}
