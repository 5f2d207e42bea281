/** Tasks that could start, in the order of their turn. */
import { compareTurn, type Turn } from './card.ts';

export class Line {
  readonly #turns: Turn[] = [];

  get length(): number {
    return this.#turns.length;
  }

  add(turn: Turn): void {
    const at = this.before(turn);
    if (this.#turns[at]?.name !== turn.name) this.#turns.splice(at, 0, turn);
  }

  remove(turn: Turn): void {
    const at = this.before(turn);
    if (this.#turns[at]?.name === turn.name) this.#turns.splice(at, 1);
  }

  /** How many come before it, whether or not it stands in the line itself. */
  before(turn: Turn): number {
    let low = 0;
    let high = this.#turns.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#turns[middle];
      if (other && compareTurn(other, turn) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  first(count: number): string[] {
    return this.#turns.slice(0, count).map(({ name }) => name);
  }
}
