/** One team's repository: what its agents have committed, what they had not, and what was merged. */
import type { Readable } from 'node:stream';
import type { MergeOutcome, MergePlan } from './merge-plan.ts';
import type { RescuedDetails, RescuedWork } from './rescued.ts';
import type { RefUpdate } from './update-refs.ts';

export type { MergeOutcome, MergePlan, MergeSource, SourceOutcome, Strategy } from './merge-plan.ts';

/** What people give as spec.repo; empty for a team without one. */
export interface RepositorySource {
  readonly path?: string;
  readonly url?: string;
  readonly ref?: string;
}

/** What came out of a workspace. */
export interface Delivery {
  readonly agentUid: string;
  /** Where a ref of the bundle belongs; undefined for one that the agent may not have. */
  readonly refOf: (ref: string) => string | undefined;
  /** It is not looked through for keys: nobody will publish it from where it goes. */
  readonly mayHoldSecrets?: boolean;
  readonly maxBytes?: number;
}

export type Received =
  | { readonly state: 'received'; readonly refs: Readonly<Record<string, string>> }
  /** Branches that lead to it did not move. All of it is kept, but not where anybody would publish it from; `refs` are those that moved. */
  | {
      readonly state: 'refused';
      readonly reason: 'SecretFound';
      readonly message: string;
      readonly refs: Readonly<Record<string, string>>;
    };

export type Landing =
  | { readonly state: 'landed' }
  /** The target is not where it was. */
  | { readonly state: 'moved'; readonly now: string | undefined }
  /** Its worktree has changes that would be overwritten. */
  | { readonly state: 'dirty'; readonly message: string };

export interface TeamRepository {
  readonly directory: string;
  readonly teamUid: string;
  /** The commit that new workspaces start from: spec.repo.ref as it is now at its source. */
  baseCommit(signal?: AbortSignal): Promise<string | undefined>;
  /** A branch that work can land on, as it is now where it would land. */
  targetCommit(branch: string, signal?: AbortSignal): Promise<string | undefined>;
  /** The branch that HEAD of the source names. Undefined: there is no source, or it has no commit yet. */
  sourceBranch(signal?: AbortSignal): Promise<string | undefined>;
  resolve(name: string): Promise<string | undefined>;
  /** What the team's source has now, for those who ask about its refs. False: it has none, or it cannot be read. */
  refreshFolder(signal?: AbortSignal): Promise<boolean>;
  /** Below one of the prefixes: name → commit. */
  refs(...prefixes: readonly string[]): Promise<ReadonlyMap<string, string>>;
  update(updates: readonly RefUpdate[]): Promise<void>;
  /** A bundle of git, checked before any ref leads to it. */
  receive(bundle: Readable, delivery: Delivery, signal?: AbortSignal): Promise<Received>;
  /** The same for commits that are here already. */
  adopt(refs: Readonly<Record<string, string>>, delivery: Pick<Delivery, 'mayHoldSecrets'>): Promise<Received>;
  /** A commit with everything that `have` lacks, under one ref; empty when nothing is lacking. */
  bundle(commit: string, have: readonly string[], signal?: AbortSignal): Readable;
  /** One commit that leads to all of them, and looks like one of them. */
  join(parents: readonly string[], as: { readonly treeOf: string; readonly message: string }): Promise<string>;
  /** To the folder that is the team's source, under the same name; false when there is none, or it does not take it. */
  publish(ref: string): Promise<boolean>;
  /** Takes it back from there; whether it was there or not. */
  unpublish(ref: string): Promise<void>;
  changedFiles(from: string, to: string): Promise<readonly string[]>;
  /** Whether everything in `commit` is in one of the refs. */
  isContained(commit: string, refs: readonly string[]): Promise<boolean>;
  /** What lies under the rescue refs. */
  rescued(): Promise<readonly RescuedWork[]>;
  /** One of them, as people want to see it. */
  describeRescued(work: RescuedWork): Promise<RescuedDetails>;
  /** How much is in `commits` and in none of the refs, and how many files of `tree` differ from `base`, or are there without one. */
  measure(
    commits: readonly string[],
    than: { readonly refs: readonly string[]; readonly tree: string; readonly base: string | undefined },
  ): Promise<{ readonly commits: number; readonly files: number }>;
  /** Values of a trailer of the commits in `to` and not in `from`, of those that touch the paths; each once. */
  trailers(
    key: string,
    range: { readonly from: string; readonly to: string; readonly paths: readonly string[] },
  ): Promise<readonly string[]>;
  /** In scratch objects; nothing moves. */
  merge<T>(plan: MergePlan, use: (merge: MergeResult) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** A branch of the team's source, which may have a worktree of somebody's. */
  land(branch: string, move: { readonly from: string | undefined; readonly to: string }, signal?: AbortSignal): Promise<Landing>;
}

export interface MergeResult {
  readonly outcome: MergeOutcome;
  /** The merged commits become part of the repository, though no ref leads to them yet. */
  keep(): Promise<void>;
}

export interface TeamRepositories {
  /** Made when it is first asked for. */
  open(team: {
    readonly uid: string;
    readonly namespace: string;
    readonly name: string;
    readonly source?: RepositorySource;
  }): Promise<TeamRepository>;
  find(teamUid: string): Promise<TeamRepository | undefined>;
  list(): Promise<readonly { readonly teamUid: string; readonly namespace: string; readonly name: string; readonly bytes: number }[]>;
  /** Packs those that have become many files; nothing in them is dropped. Gives how many it has packed. */
  tidy(signal?: AbortSignal): Promise<number>;
  /** One that holds work which is nowhere else, rescued or merged, is kept. */
  remove(teamUid: string): Promise<'removed' | 'kept' | 'absent'>;
  /** Ends what is kept ready for the next merge. */
  close(): Promise<void>;
}
