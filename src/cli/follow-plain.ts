/**
 * The view for pipes and logs: a line per change on standard error, what tasks printed on standard output. What a Task says while its agents
 * are being made is held back until they are there, and told then if it is still so.
 */
import type { FollowView } from './follow.ts';
import { type Board, boardKey, type Followed, isPremature } from './follow-board.ts';
import { tellChange } from './follow-lines.ts';

export interface PlainOptions {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Had ended before we began, by uid. */
  readonly isOld: (uid: string) => boolean;
}

export function plainView({ out, err, isOld }: PlainOptions): FollowView & { close(): void } {
  /** What is held back, with what was last told of it. */
  const held = new Map<string, Followed | undefined>();
  const tell = (before: Followed | undefined, after: Followed) => {
    const { line, result } = tellChange(before, after, isOld(after.metadata.uid));
    if (line !== '') err(line);
    if (result && result.stdout !== '') out(result.stdout);
    if (result && result.stderr !== '') err(result.stderr);
  };
  const release = (board: Board, isOver: boolean) => {
    for (const [key, told] of held) {
      const object = board.get(key);
      if (object?.kind === 'Task' && !isOver && isPremature(object, board)) continue;
      held.delete(key);
      if (object) tell(told, object);
    }
  };
  return {
    changed(board, { before, after }) {
      const key = after && boardKey(after);
      if (after && key !== undefined && !held.has(key)) {
        if (after.kind === 'Task' && isPremature(after, board)) held.set(key, before);
        else tell(before, after);
      }
      release(board, false);
    },
    said: err,
    over: (board) => release(board, true),
    close() {},
  };
}
