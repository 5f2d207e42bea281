/** Waits until there is mail in an inbox or a task of the team has ended. Nothing is read away by it. */
import type { Task } from '#api/types.ts';
import { followMessages, type MessageFilter } from '#client/messages.ts';
import type { ToolCall } from '../tool.ts';
import { refuseEnded } from './await-object.ts';
import { isEnded } from './task-word.ts';

export interface TeamWait {
  readonly filter: MessageFilter & { readonly team: string };
  /** As they were listed, and the version of that list. */
  readonly tasks: readonly Task[];
  readonly resourceVersion: string;
  readonly timeoutMs: number;
}

/** False when the time was over first. */
export async function awaitTeam({ client, connection, signal }: ToolCall, wait: TeamWait): Promise<boolean> {
  const { filter, tasks, resourceVersion, timeoutMs } = wait;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), timeoutMs);
  const either = { connection, signal: AbortSignal.any([signal, over.signal]) };
  const watch = { namespace: filter.namespace, fieldSelector: `spec.team=${filter.team}`, resourceVersion, signal: either.signal };
  // A server may end one of them before the time is over; the other one still counts.
  const ended = new Promise<false>((resolve) => {
    either.signal.addEventListener('abort', () => resolve(false), { once: true });
  });
  const followed = [
    first(followMessages(either, { ...filter, unseen: true }), () => true),
    first(client.watch<Task>('Task', watch), ({ type, object }) => type !== 'DELETED' && isNewEnd(object, tasks)),
  ];
  try {
    const isThere = await Promise.race([ended, ...followed.map((each) => each.then((isFound) => isFound || ended))]);
    refuseEnded(signal);
    return isThere;
  } finally {
    clearTimeout(timer);
    over.abort();
    // The other one ends with the signal; whatever it says then nobody needs.
    await Promise.allSettled(followed);
  }
}

async function first<T>(items: AsyncIterable<T>, isWanted: (item: T) => boolean): Promise<boolean> {
  for await (const item of items) if (isWanted(item)) return true;
  return false;
}

function isNewEnd(task: Task, before: readonly Task[]): boolean {
  if (!isEnded(task)) return false;
  const known = before.find(({ metadata }) => metadata.uid === task.metadata.uid);
  return !known || !isEnded(known) || known.status?.finishedAt !== task.status?.finishedAt;
}
