/** The same call of a tool again and again, inside of one turn: how often in a row. */

/** A look at the files after each so many. */
export const REPEATS_PER_LOOK = 10;
/** What takes so long is waiting for somebody: the time of the attempt ends that. */
const WAITING_MS = 10_000;

export interface EndedCall {
  /** The same for calls of the same tool with the same arguments; undefined where the agent does not tell the arguments. */
  readonly what: string | undefined;
  readonly tookMs: number;
}

export class Repeats {
  #last: string | undefined;
  #count = 0;

  /** How often this call was made in a row by now; 0 for one that does not count. */
  add({ what, tookMs }: EndedCall): number {
    const counts = what !== undefined && tookMs < WAITING_MS;
    this.#count = !counts ? 0 : what === this.#last ? this.#count + 1 : 1;
    this.#last = counts ? what : undefined;
    return this.#count;
  }
}
