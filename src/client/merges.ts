/** `/merges` of our own daemon, typed: somebody who wrote none of it lets a merged commit land. */
import { askDesk } from './desk.ts';
import type { Asking } from './messages.ts';

export interface MergeApproval {
  readonly by: string;
  readonly commit: string;
  readonly time: string;
}

/** `commit` is what was looked at: if the Merge is at another one by now, it does not count. */
export function approveMerge(
  { connection, signal }: Asking,
  body: { readonly namespace: string; readonly name: string; readonly commit?: string | undefined },
): Promise<MergeApproval> {
  return askDesk(connection, { method: 'POST', path: '/merges/approve', body, signal });
}
