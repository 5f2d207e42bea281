/** What the steps of a merge share. */
import { readObjects } from './batch.ts';
import { conflictsOf, hunksOf } from './conflicts.ts';
import type { ConflictAt, MergePlan, SourceOutcome } from './merge-plan.ts';
import type { MergeProcess } from './merge-process.ts';
import type { MergeRecord } from './merge-records.ts';
import { type GitOptions, git } from './run.ts';
import type { Scratch } from './scratch.ts';

export interface Merging {
  readonly options: GitOptions;
  readonly scratch: Scratch;
  readonly merges: MergeProcess;
  readonly plan: MergePlan;
}

/** Of a file with markers; larger ones are named without their hunks. */
const MAX_MARKED_BYTES = 4 * 1024 * 1024;
const MAX_MARKED_FILES = 100;

export interface Step {
  readonly tip: string;
  readonly outcome: SourceOutcome;
}

export async function toConflict(record: MergeRecord, options: GitOptions, commit?: string): Promise<ConflictAt> {
  const conflicts = conflictsOf(record);
  const marked = await markedTexts(
    record.tree,
    conflicts.filter(({ kind }) => kind !== 'binary').map(({ path }) => path),
    options,
  );
  const files = conflicts.map((file) => ({ ...file, hunks: hunksOf(marked.get(file.path) ?? '') }));
  return { ...(commit !== undefined && { commit }), files };
}

/** Files with markers, in two processes whatever their number. */
async function markedTexts(tree: string, paths: readonly string[], options: GitOptions): Promise<ReadonlyMap<string, string>> {
  // A question is a line.
  const asked = paths.filter((path) => !path.includes('\n'));
  if (asked.length === 0) return new Map();
  const input = asked.map((path) => `${tree}:${path}\n`).join('');
  const answers = (await git(['cat-file', '--batch-check'], { ...options, input })).split('\n');
  const ids = asked.flatMap((path, index) => {
    const [, id, size] = /^([0-9a-f]+) blob (\d+)$/.exec(answers[index] ?? '') ?? [];
    return id === undefined || Number(size) > MAX_MARKED_BYTES ? [] : [[path, id] as const];
  });
  const found = await readObjects([...new Set(ids.map(([, id]) => id))].slice(0, MAX_MARKED_FILES), options);
  const contents = new Map(found.map(({ id, content }) => [id, content.toString()]));
  return new Map(ids.flatMap(([path, id]) => (contents.has(id) ? [[path, contents.get(id) ?? '']] : [])));
}
