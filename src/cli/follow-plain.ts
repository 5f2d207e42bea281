/** The view for pipes and logs: a line per change on standard error, what tasks printed on standard output. */
import type { FollowView } from './follow.ts';
import { tellChange } from './follow-lines.ts';

export interface PlainOptions {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Had ended before we began, by uid. */
  readonly isOld: (uid: string) => boolean;
}

export function plainView({ out, err, isOld }: PlainOptions): FollowView & { close(): void } {
  return {
    changed(_board, { before, after }) {
      if (!after) return;
      const { line, result } = tellChange(before, after, isOld(after.metadata.uid));
      if (line !== '') err(line);
      if (result && result.stdout !== '') out(result.stdout);
      if (result && result.stderr !== '') err(result.stderr);
    },
    over() {},
    close() {},
  };
}
