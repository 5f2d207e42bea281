/** Refs that move together or not at all, each only from the value it is believed to have. */
import { ConflictError } from '#lib/errors.ts';
import { type RefMovers, UPDATE_REF } from './ref-mover.ts';
import { GitError, type GitOptions, tryGit } from './run.ts';

export interface RefUpdate {
  readonly ref: string;
  /** Undefined: removed. */
  readonly to: string | undefined;
  /** Undefined: it must not exist. Absent: whatever it was. */
  readonly from?: string | undefined;
}

const LOCKED = /cannot lock ref|but expected|reference already exists|unable to resolve reference/;

/** Throws ConflictError when one of them has moved meanwhile; then none has been changed. `movers`: what may have a process for it. */
export async function updateRefs(updates: readonly RefUpdate[], options: GitOptions, movers?: RefMovers): Promise<void> {
  if (updates.length === 0) return;
  const input = updates.map(toCommand).join('');
  const outcome = await (movers ? movers.move(input, options) : tryGit(UPDATE_REF, { ...options, input }));
  if (outcome.code === 0) return;
  if (LOCKED.test(outcome.stderr)) throw new ConflictError(`a ref moved meanwhile: ${outcome.stderr.trim()}`, { reason: 'RefMoved' });
  throw new GitError(UPDATE_REF, outcome);
}

function toCommand({ ref, to, ...update }: RefUpdate): string {
  const old = 'from' in update ? (update.from ?? '0'.repeat(to?.length ?? 40)) : '';
  return to === undefined ? `delete ${ref}\0${old}\0` : `update ${ref}\0${to}\0${old}\0`;
}
