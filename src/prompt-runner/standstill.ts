/**
 * Notices a turn that goes round in a circle: the same call of a tool, twenty times in a row, without a change of any file in the second half.
 * One per turn. On a busy machine calls are heard of late, many at once: only those count that are known to have ended after a look at the files.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { type EndedCall, REPEATS_PER_LOOK, Repeats } from './repeats.ts';

/** So many turns of the event loop in which no call was heard of: nothing is on its way any more. */
const QUIET_TURNS = 3;

export class Standstill {
  readonly #treeHash: () => Promise<string>;
  readonly #repeats = new Repeats();
  /** Of the calls that are the same. */
  #count = 0;
  /** Of calls at all. */
  #heard = 0;
  /** What the files were before all calls after so many. */
  #seen: { readonly hash: string; readonly count: number } | undefined;
  #isLooking = false;
  #found: (what: string) => void = () => {};
  /** Never, for a turn that gets on. */
  readonly found = new Promise<string>((resolve) => {
    this.#found = resolve;
  });

  constructor(treeHash: () => Promise<string>) {
    this.#treeHash = treeHash;
  }

  readonly callEnded = (call: EndedCall): void => {
    this.#heard++;
    this.#count = this.#repeats.add(call);
    // Another one: what was seen is of the calls before.
    if (this.#count < REPEATS_PER_LOOK) this.#seen = undefined;
    const from = this.#seen?.count ?? 0;
    if (this.#isLooking || this.#count < from + REPEATS_PER_LOOK) return;
    this.#isLooking = true;
    void this.#look()
      .catch(() => {})
      .finally(() => {
        this.#isLooking = false;
      });
  };

  async #look(): Promise<void> {
    const seen = this.#seen;
    const hash = await this.#treeHash();
    // Whoever has begun something else meanwhile has not stood still.
    if (seen && this.#seen === seen && hash === seen.hash)
      return this.#found(`the same call ${2 * REPEATS_PER_LOOK} times in a row, and no file has changed`);
    await this.#caughtUp();
    this.#seen = this.#count < REPEATS_PER_LOOK ? undefined : { hash, count: this.#count };
  }

  /** What is heard of from now on has ended after this was called. */
  async #caughtUp(): Promise<void> {
    for (let quiet = 0, heard = this.#heard; quiet < QUIET_TURNS; heard = this.#heard) {
      await turn();
      quiet = this.#heard === heard ? quiet + 1 : 0;
    }
  }
}
