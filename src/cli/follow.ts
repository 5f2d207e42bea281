/** Follows the applied teams and shows what happens to them, until nothing can move any more, or for as long as it is told to stay. */
import type { KindObject } from '#api/meta.ts';
import type { Client, WatchEvent } from '#client/client.ts';
import { type Board, boardKey, exitCodeOf, expectedTasks, type Followed, tasksOn, teamOf, verdictOf } from './follow-board.ts';

/** Where it is shown. */
export interface FollowView {
  /** `before` is absent for what is new; `after` for what is gone. */
  changed(board: Board, change: { readonly before: Followed | undefined; readonly after: Followed | undefined }): void;
  /** A line about something that is not on the board. */
  said(line: string): void;
  /** Nothing can move any more. Called once. */
  over(board: Board, code: number): void;
}

export interface FollowOptions {
  readonly client: Client;
  readonly applied: readonly KindObject[];
  readonly view: FollowView;
  readonly signal: AbortSignal;
  /** Goes on showing what happens after the end, until the signal. */
  readonly stays?: boolean;
  /** How long a state that looks hopeless must last: what an earlier run left may not have been looked at yet. */
  readonly settleMs?: number;
  /** Awaited when nothing can move any more, before that is said. It never rejects. */
  readonly beforeOver?: () => Promise<void>;
}

export interface FollowEnd {
  /** What there was at the end. */
  readonly board: Board;
  readonly code: number;
  /** It was interrupted before all tasks had ended. */
  readonly isUnfinished: boolean;
}

const SETTLE_MS = 1_500;
const KINDS: readonly Followed['kind'][] = ['Team', 'Task', 'Agent', 'Merge'];

export async function followTasks(options: FollowOptions): Promise<FollowEnd> {
  const { client, applied, view, signal, stays = false, settleMs = SETTLE_MS, beforeOver = async () => {} } = options;
  const teams = new Set(applied.map(teamOf));
  const expected = expectedTasks(applied);
  const board = new Map<string, Followed>();
  const ended = new AbortController();
  const watching = AbortSignal.any([signal, ended.signal]);
  let isOver = false;
  let settling: NodeJS.Timeout | undefined;

  const end = async () => {
    isOver = true;
    await beforeOver();
    view.over(board, exitCodeOf(board, expected));
    if (!stays) ended.abort();
  };
  const judge = () => {
    clearTimeout(settling);
    if (isOver || watching.aborted) return;
    const verdict = verdictOf(board, expected);
    if (verdict === 'done') void end();
    if (verdict === 'lost') settling = setTimeout(() => void end(), settleMs);
  };
  const follow = async (kind: Followed['kind']) => {
    for await (const event of client.watch<Followed>(kind, { signal: watching })) {
      if (!teams.has(teamOf(event.object))) continue;
      view.changed(board, note(board, event));
      judge();
    }
  };
  try {
    await Promise.all(KINDS.map(follow));
  } finally {
    clearTimeout(settling);
    // One that failed takes the others with it.
    ended.abort();
  }
  const hasTasks = expected.size > 0 || tasksOn(board).length > 0;
  return { board, code: exitCodeOf(board, expected), isUnfinished: hasTasks && !isOver };
}

function note(board: Map<string, Followed>, { type, object }: WatchEvent<Followed>) {
  const key = boardKey(object);
  const before = board.get(key);
  if (type === 'DELETED') board.delete(key);
  else board.set(key, object);
  return { before, after: type === 'DELETED' ? undefined : object };
}
