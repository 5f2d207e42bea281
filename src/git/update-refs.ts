/** Refs that move together or not at all, each only from the value it is believed to have. */
import { ConflictError } from '#lib/errors.ts';
import { GitError, type GitOptions, type StartedGit, startGit } from './run.ts';

export interface RefUpdate {
  readonly ref: string;
  /** Undefined: removed. */
  readonly to: string | undefined;
  /** Undefined: it must not exist. Absent: whatever it was. */
  readonly from?: string | undefined;
}

const LOCKED = /cannot lock ref|but expected|reference already exists|unable to resolve reference/;

const ARGS = ['update-ref', '--stdin', '-z', '--create-reflog'];

/** A process that will move refs, started before it is known where to: whoever has something to do first does not wait for it later. */
export function prepareRefUpdate(options: GitOptions): StartedGit {
  return startGit(ARGS, options);
}

/** Throws ConflictError when one of them has moved meanwhile; then none has been changed. */
export async function updateRefs(updates: readonly RefUpdate[], options: GitOptions, prepared?: StartedGit): Promise<void> {
  if (updates.length === 0) return;
  const outcome = await (prepared ?? prepareRefUpdate(options)).finish(updates.map(toCommand).join(''));
  if (outcome.code === 0) return;
  if (LOCKED.test(outcome.stderr)) throw new ConflictError(`a ref moved meanwhile: ${outcome.stderr.trim()}`, { reason: 'RefMoved' });
  throw new GitError(ARGS, outcome);
}

function toCommand({ ref, to, ...update }: RefUpdate): string {
  const old = 'from' in update ? (update.from ?? '0'.repeat(to?.length ?? 40)) : '';
  return to === undefined ? `delete ${ref}\0${old}\0` : `update ${ref}\0${to}\0${old}\0`;
}
