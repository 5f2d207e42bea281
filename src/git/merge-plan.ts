/** What is to be merged, and what came of it. */
import type { Person } from './commit-object.ts';
import type { FileConflict } from './conflicts.ts';

export type Strategy = 'sequential' | 'branch-per-source' | 'cherry-pick';

export interface MergeSource {
  /** As people call it; stands in messages and reports. */
  readonly name: string;
  readonly head: string;
  /** Its work begins after this commit: what cherry-pick takes. */
  readonly base: string;
}

export interface MergePlan {
  readonly strategy: Strategy;
  /** The commit that the target has now. */
  readonly target: string;
  /** As people call it, for messages. */
  readonly targetName: string;
  readonly sources: readonly MergeSource[];
  /** Of the commits that the merge itself makes; a text that names the source when absent. */
  readonly message?: string;
  readonly by: Person;
  readonly at: Date;
}

export interface SourceOutcome {
  readonly name: string;
  readonly state: 'merged' | 'conflicted' | 'failed';
  /** For `failed`. */
  readonly reason?: 'MergeCommitInRange' | 'UnrelatedHistories' | 'BaseNotInHistory';
  readonly message?: string;
  /** How many of its commits are new in the target. */
  readonly commits: number;
  readonly conflicts: readonly ConflictAt[];
}

export interface ConflictAt {
  /** By cherry-pick: the commit that does not fit. */
  readonly commit?: string;
  readonly files: readonly (FileConflict & {
    readonly hunks: readonly { readonly startLine: number; readonly oursLines: number; readonly theirsLines: number }[];
  })[];
}

export interface MergeOutcome {
  /** With all sources that fit; what the target may become only if all of them did. */
  readonly tip: string;
  readonly sources: readonly SourceOutcome[];
}
