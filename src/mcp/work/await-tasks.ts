/** The Tasks with one label until they are settled together, by a watch. */
import type { Task } from '#api/types.ts';
import type { ToolCall } from '../tool.ts';
import { refuseEnded } from './await-object.ts';

export interface TasksWait {
  readonly namespace: string;
  readonly labelSelector: string;
  /** As they were listed, and the version of that list. */
  readonly tasks: readonly Task[];
  readonly resourceVersion: string;
  readonly timeoutMs: number;
  isSettled(tasks: readonly Task[]): boolean;
  say(tasks: readonly Task[]): string;
}

/** How they were when they were settled, or when the time was over. */
export async function awaitTasks({ client, signal, progress }: ToolCall, wait: TasksWait): Promise<readonly Task[]> {
  const { namespace, labelSelector, resourceVersion, timeoutMs, isSettled, say } = wait;
  const current = new Map(wait.tasks.map((task) => [task.metadata.name, task]));
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), timeoutMs);
  const watch = { namespace, labelSelector, resourceVersion, signal: AbortSignal.any([signal, over.signal]) };
  let said = '';
  try {
    for await (const { type, object } of client.watch<Task>('Task', watch)) {
      if (type === 'DELETED') current.delete(object.metadata.name);
      else current.set(object.metadata.name, object);
      const tasks = [...current.values()];
      if (isSettled(tasks)) return tasks;
      const words = say(tasks);
      if (words !== said) progress(words);
      said = words;
    }
  } finally {
    clearTimeout(timer);
    over.abort();
  }
  refuseEnded(signal);
  return [...current.values()];
}
