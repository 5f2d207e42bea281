/** The words of the board in Markdown: one for each phase, and its mark. Pure. */
import type { Task } from '#api/types.ts';

export type Phase = NonNullable<NonNullable<Task['status']>['phase']>;

export const WORDS: Readonly<Record<Phase, string>> = {
  Pending: 'pending',
  Claimed: 'claimed',
  Running: 'in_progress',
  Blocked: 'blocked',
  Succeeded: 'completed',
  Failed: 'failed',
};

/** Open, in work, done, or a matter for somebody. */
export const MARKS: Readonly<Record<Phase, ' ' | '~' | 'x' | '!'>> = {
  Pending: ' ',
  Claimed: '~',
  Running: '~',
  Blocked: '!',
  Succeeded: 'x',
  Failed: '!',
};

/** A Task that no controller has seen yet is pending. */
export function phaseOf({ status }: Task): Phase {
  return status?.phase ?? 'Pending';
}

/** The command that changes an object, for whoever tried to change its file. */
export function editCommand(kind: 'task' | 'team', { namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `agentiso edit ${kind} ${name}${namespace === 'default' ? '' : ` -n ${namespace}`}`;
}

/** Where a team's files are in the vault. */
export function folderOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return namespace === 'default' ? `teams/${name}` : `namespaces/${namespace}/teams/${name}`;
}
