/** A Merge as tools answer it. Pure. */
import type { Merge } from '#api/types.ts';
import { count, flag, list, object, oneOf, type Parsed, text } from '#protocol/shape.ts';
import { given } from './given.ts';
import { whyOf } from './task-word.ts';

const conflict = object({ source: text, files: list(object({ path: text, kind: text })) }, { commit: text, tasks: list(text) });
const refused = object({ source: text }, { reason: text, message: text, uncommitted_files: list(text) });

export const mergeAnswer = object(
  {
    merge: text,
    success: flag,
    phase: oneOf('Pending', 'Queued', 'Merging', 'Merged', 'Conflicted', 'Failed'),
    strategy: text,
    total_commits_applied: count,
    merged_sources: list(text),
    conflicts: list(conflict),
    failed_sources: list(refused),
  },
  { reason: text, message: text, candidate: text, target_before: text, target_after: text, timed_out: flag, hint: text },
);
export type MergeAnswer = Parsed<typeof mergeAnswer>;

export function toMergeAnswer({ metadata, spec, status = {} }: Merge): MergeAnswer {
  const { phase = 'Pending', sources = [], conflicts = [] } = status;
  return {
    merge: metadata.name,
    success: phase === 'Merged',
    phase,
    strategy: spec.strategy,
    total_commits_applied: status.totalCommitsApplied ?? 0,
    // Nothing of a source has reached the target before all of them have.
    merged_sources: phase === 'Merged' ? sources.map(({ agent }) => agent) : [],
    conflicts: conflicts.map(({ source, commit, tasks, files = [] }) => ({
      source,
      files: files.map(({ path, kind }) => ({ path, kind })),
      ...given({ commit, tasks }),
    })),
    failed_sources: sources
      .filter((source) => source.phase === 'Failed')
      .map(({ agent, reason, message, uncommittedFiles }) => ({
        source: agent,
        ...given({ reason, message, uncommitted_files: uncommittedFiles }),
      })),
    ...given({
      reason: status.reason,
      message: whyOf({ status }),
      candidate: status.candidate,
      target_before: status.targetBefore,
      target_after: status.targetAfter,
      hint: hintFor({ phase, reason: reasonOf(status) }),
    }),
  };
}

/** Nothing more comes of waiting: it has ended, or somebody must do something first. */
export function isMergeSettled({ status = {} }: Merge): boolean {
  return status.phase === 'Merged' || status.phase === 'Conflicted' || status.phase === 'Failed' || reasonOf(status) === 'ApprovalNeeded';
}

export function mergeProgress({ metadata, status = {} }: Merge): string {
  const why = whyOf({ status });
  return `merge ${metadata.name}: ${status.phase ?? 'Pending'}${why === undefined ? '' : ` (${why})`}`;
}

type Status = NonNullable<Merge['status']>;

function reasonOf({ conditions = [] }: Status): string | undefined {
  return conditions.find(({ type }) => type === 'Ready')?.reason;
}

function hintFor({ phase, reason }: { readonly phase: MergeAnswer['phase']; readonly reason: string | undefined }): string | undefined {
  if (reason === 'ApprovalNeeded') return 'approve_merge lets the candidate land';
  if (reason === 'UncommittedChanges') return 'let the agents commit (assign_task or workspace_exec), or merge with allow_dirty';
  if (phase === 'Conflicted') return 'nothing was changed; when the source is mended (assign_task) this merge is tried again by itself';
  if (phase === 'Failed') return 'message says why; when that is mended this merge is tried again by itself';
  return phase === 'Merged' ? undefined : 'get or wait_for with kind Merge show how far it is, why what it waits for';
}
