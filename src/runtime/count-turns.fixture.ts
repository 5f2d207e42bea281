/** How much is done in one turn of the event loop, in which nobody else can do anything. */
export interface TurnCounter {
  /** Something is done. */
  note(): void;
  /** The most that was done in one turn. */
  end(): number;
}

export function countTurns(): TurnCounter {
  let [most, now] = [0, 0];
  const newTurn = () => {
    now = 0;
    next = setImmediate(newTurn);
  };
  let next = setImmediate(newTurn);
  return {
    note() {
      now += 1;
      most = Math.max(most, now);
    },
    end() {
      clearImmediate(next);
      return most;
    },
  };
}
