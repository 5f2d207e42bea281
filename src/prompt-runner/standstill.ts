/**
 * Notices a turn that goes round in a circle: the same call of a tool, twenty times in a row, without a change of any file in the second half.
 * One per turn.
 */
import { type EndedCall, REPEATS_PER_LOOK, Repeats } from './repeats.ts';

export class Standstill {
  readonly #treeHash: () => Promise<string>;
  readonly #repeats = new Repeats();
  #seenHash: string | undefined;
  #looking: Promise<void> = Promise.resolve();
  #found: (what: string) => void = () => {};
  /** Never, for a turn that gets on. */
  readonly found = new Promise<string>((resolve) => {
    this.#found = resolve;
  });

  constructor(treeHash: () => Promise<string>) {
    this.#treeHash = treeHash;
  }

  readonly callEnded = (call: EndedCall): void => {
    const count = this.#repeats.add(call);
    if (count === 0 || count % REPEATS_PER_LOOK !== 0) return;
    this.#looking = this.#looking.then(() => this.#look(count)).catch(() => {});
  };

  async #look(count: number): Promise<void> {
    const hash = await this.#treeHash();
    if (count > REPEATS_PER_LOOK && hash === this.#seenHash) this.#found(`the same call ${count} times in a row, and no file has changed`);
    this.#seenHash = hash;
  }
}
