/** What became of a merge, in the words of its status. Pure. */
import type { Merge } from '#api/types.ts';
import type { MergeSource, SourceOutcome } from '#git/team-repository.ts';

type Status = NonNullable<Merge['status']>;
export type SourceStatus = NonNullable<Status['sources']>[number];
export type ConflictStatus = NonNullable<Status['conflicts']>[number];

const PHASES = { merged: 'Merged', conflicted: 'Conflicted', failed: 'Failed' } as const;

export function sourceStatus(source: MergeSource, outcome: SourceOutcome): SourceStatus {
  return {
    agent: source.name,
    phase: PHASES[outcome.state],
    ...(outcome.reason !== undefined && { reason: outcome.reason }),
    ...(outcome.message !== undefined && { message: outcome.message }),
    base: source.base,
    head: source.head,
    commitsApplied: outcome.commits,
  };
}

/** An object has to stay readable, and small enough to be stored. */
const MAX_FILES = 1_000;
const MAX_HUNKS = 50;

/** A list has one entry per source; by cherry-pick a source stops at its first commit that does not fit. */
export function conflictStatus({ name, conflicts }: SourceOutcome, tasks: readonly string[]): ConflictStatus[] {
  const [first] = conflicts;
  if (!first) return [];
  return [
    {
      source: name,
      ...(first.commit !== undefined && { commit: first.commit }),
      ...(tasks.length > 0 && { tasks: [...tasks] }),
      files: first.files.slice(0, MAX_FILES).map(({ path, kind, hunks }) => ({
        path,
        kind,
        ...(hunks.length > 0 && { hunks: hunks.slice(0, MAX_HUNKS) }),
      })),
    },
  ];
}

/** One line for people and for the agents concerned. */
export function describeConflict({ source, commit, files = [] }: ConflictStatus): string {
  const named = files.slice(0, 5).map(({ path, kind }) => `${path} (${kind})`);
  const more = files.length > named.length ? ` and ${files.length - named.length} more` : '';
  return `${source}${commit === undefined ? '' : ` at ${commit.slice(0, 12)}`} does not fit in ${named.join(', ')}${more}`;
}
