/** How a run goes on after a turn. Pure. */

export interface TurnEnd {
  /** The agent's, or one of ours. */
  readonly stopReason: string;
  /** Of the files as they were when it ended. */
  readonly treeHash: string;
  /** What tools it called, each with its input. */
  readonly calls: readonly string[];
}

/** How often it was pushed already. */
export interface Pushes {
  readonly nudges: number;
  readonly handOvers: number;
}

export type Move =
  /** By its own account there is nothing left to do. */
  | 'done'
  | 'refused'
  | 'cancelled'
  /** It was cut off by a limit of its own. */
  | 'goOn'
  | 'nudge'
  | 'handOver'
  | 'giveUp';

/** It was called off, because it did the same again and again. */
export const STANDING_STILL = 'standing_still';
/** The same, and the agent did not stop when it was told to: nothing more can be said to it. */
export const UNSTOPPABLE = 'unstoppable';

/** Turns that look the same before anybody acts on it. */
export const SAME_TURNS = 3;
/** Of any kind: nobody goes on for ever. */
const MAX_TURNS = 50;

/** `turns`: since the last push, or the start. */
export function nextMove(turns: readonly TurnEnd[], pushes: Pushes, total = turns.length): Move {
  switch (turns.at(-1)?.stopReason) {
    case 'end_turn':
      return 'done';
    case 'refusal':
      return 'refused';
    case 'cancelled':
      return 'cancelled';
    default:
      if (total >= MAX_TURNS) return 'giveUp';
      return isStandingStill(turns) ? push(turns.at(-1), pushes) : 'goOn';
  }
}

function push(last: TurnEnd | undefined, { nudges, handOvers }: Pushes): Move {
  if (nudges === 0 && last?.stopReason !== UNSTOPPABLE) return 'nudge';
  return handOvers === 0 ? 'handOver' : 'giveUp';
}

function isStandingStill(turns: readonly TurnEnd[]): boolean {
  const { stopReason } = turns.at(-1) ?? {};
  if (stopReason === STANDING_STILL || stopReason === UNSTOPPABLE) return true;
  const last = turns.slice(-SAME_TURNS);
  const looks = new Set(last.map(({ treeHash, calls }) => `${treeHash}\n${calls.join('\n')}`));
  return last.length === SAME_TURNS && looks.size === 1;
}
