/** What one look at one merge has to work with. */
import type { Merge } from '#api/types.ts';
import type { TeamRepository } from '#git/team-repository.ts';
import type { ReconcileContext } from '#runtime/controller.ts';
import type { MergeDeps } from './deps.ts';
import type { Target } from './target.ts';

/**
 * What a new daemon may forget, by uid: it then asks once more, or waits a little less. Everything that must not be forgotten is in statuses
 * and refs.
 */
export class Memory {
  /** How often in a row the target had moved, or did not take it. */
  readonly tries = new Map<string, { readonly count: number; readonly last: { readonly reason: string; readonly message: string } }>();
  /** Those whose verify runs. */
  readonly gates = new Set<string>();
  /** The commit of another merge that one did not fit on. */
  readonly unfit = new Map<string, string>();

  /** When one that has ended badly was last looked at, in milliseconds. */
  readonly looks = new Map<string, number>();

  forget(uid: string): void {
    for (const known of [this.tries, this.gates, this.unfit, this.looks]) known.delete(uid);
  }
}

export interface Pass {
  readonly deps: MergeDeps;
  readonly memory: Memory;
  readonly ctx: ReconcileContext;
  readonly repository: TeamRepository;
  readonly signal: AbortSignal;
  /** All of the team, as they are stored. */
  readonly all: readonly Merge[];
}

export interface Aimed extends Pass {
  readonly target: Target;
}
