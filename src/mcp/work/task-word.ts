/** How far a Task is, in the words of tools. Pure. */
import type { Condition } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import { oneOf, type Parsed } from '#protocol/shape.ts';

export const taskWord = oneOf('pending', 'claimed', 'in_progress', 'blocked', 'completed', 'failed');
/** In workflows a step that can never start is told apart from one that only waits. */
export const stepWord = oneOf('pending', 'claimed', 'in_progress', 'blocked', 'completed', 'failed', 'skipped');

const WORDS: Readonly<Record<NonNullable<NonNullable<Task['status']>['phase']>, Parsed<typeof taskWord>>> = {
  Pending: 'pending',
  Claimed: 'claimed',
  Running: 'in_progress',
  Blocked: 'blocked',
  Succeeded: 'completed',
  Failed: 'failed',
};

export function wordOf({ status }: Pick<Task, 'status'>): Parsed<typeof taskWord> {
  return WORDS[status?.phase ?? 'Pending'];
}

export function stepWordOf(task: Pick<Task, 'status'>): Parsed<typeof stepWord> {
  return task.status?.phase === 'Blocked' && task.status.reason === 'DependencyFailed' ? 'skipped' : wordOf(task);
}

export function isEnded({ status }: Pick<Task, 'status'>): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

/** Why it waits or failed, as its condition says it. */
export function whyOf({ status }: { readonly status?: { readonly conditions?: readonly Condition[] } }): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.message || undefined;
}

export function progressOf(task: Task): string {
  const { owner, attempt = 0 } = task.status ?? {};
  const who = owner === undefined || isEnded(task) ? '' : `, attempt ${attempt} by ${owner}`;
  const why = whyOf(task);
  return `task ${task.metadata.name}: ${wordOf(task)}${who}${why === undefined ? '' : ` (${why})`}`;
}
