/** What does not fit, in the words of a Merge's status. Pure. */
import type { ConflictStage, MergeMessage, MergeRecord } from './merge-records.ts';

export type ConflictKind = 'content' | 'add/add' | 'modify/delete' | 'rename' | 'binary';

export interface FileConflict {
  readonly path: string;
  readonly kind: ConflictKind;
  /** The file with markers, for those that have any. */
  readonly markedBlob?: string;
}

/** One file may be named by several complaints; the most telling one counts. */
export function conflictsOf({ stages, messages }: MergeRecord): FileConflict[] {
  const complaints = messages.filter(({ type }) => type.startsWith('CONFLICT'));
  const paths = new Set([...stages.map(({ path }) => path), ...complaints.flatMap((complaint) => complaint.paths.slice(0, 1))]);
  return [...paths].sort().map((path) => ({
    path,
    kind: kindOf(
      complaints.filter((complaint) => complaint.paths.includes(path)),
      stages.filter((stage) => stage.path === path),
    ),
  }));
}

function kindOf(complaints: readonly MergeMessage[], stages: readonly ConflictStage[]): ConflictKind {
  const says = (word: string) => complaints.some(({ type }) => type.includes(word));
  if (says('binary')) return 'binary';
  if (says('rename') || says('directory')) return 'rename';
  if (says('modify/delete') || says('delete')) return 'modify/delete';
  const has = (stage: number) => stages.some((entry) => entry.stage === stage);
  if (!has(1) && has(2) && has(3)) return 'add/add';
  // A submodule, or a link against a file: two contents that no lines can join.
  return has(2) !== has(3) && has(1) ? 'modify/delete' : 'content';
}

export interface Hunk {
  /** Lines of our side, from 1, in the file with markers left out. */
  readonly startLine: number;
  readonly oursLines: number;
  readonly theirsLines: number;
}

const OURS = /^<{7}(?: |$)/;
const BETWEEN = /^={7}$/;
const BASE = /^\|{7}(?: |$)/;
const THEIRS = /^>{7}(?: |$)/;

/** From a file with conflict markers; where it stands in our side of the file. */
export function hunksOf(marked: string): Hunk[] {
  const hunks: Hunk[] = [];
  let ours = 0;
  let open: OpenHunk | undefined;
  for (const line of marked.split('\n')) {
    if (open === undefined) {
      if (OURS.test(line)) open = { startLine: ours + 1, oursLines: 0, theirsLines: 0, side: 'ours' };
      else ours += 1;
    } else if (takeLine(open, line) === 'end') {
      const { startLine, oursLines, theirsLines } = open;
      hunks.push({ startLine, oursLines, theirsLines });
      ours += oursLines;
      open = undefined;
    }
  }
  return hunks;
}

interface OpenHunk {
  readonly startLine: number;
  oursLines: number;
  theirsLines: number;
  side: 'ours' | 'base' | 'theirs';
}

function takeLine(hunk: OpenHunk, line: string): 'end' | undefined {
  if (hunk.side === 'theirs') {
    if (THEIRS.test(line)) return 'end';
    hunk.theirsLines += 1;
  } else if (BETWEEN.test(line)) hunk.side = 'theirs';
  else if (hunk.side === 'ours' && BASE.test(line)) hunk.side = 'base';
  else if (hunk.side === 'ours') hunk.oursLines += 1;
  return undefined;
}
