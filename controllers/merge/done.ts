/** A merge that has landed: it is not made again, whatever is asked of it. Pure. */
import type { Merge } from '#api/types.ts';

export const MERGE_FINALIZER = 'agentiso.dev/merge';

/** A pass would find nothing to do, and nothing to hold on to. */
export function isDone({ metadata, status }: Merge): boolean {
  const isHeld = metadata.finalizers?.includes(MERGE_FINALIZER) === true;
  return status?.phase === 'Merged' && isHeld && metadata.deletionTimestamp === undefined;
}
