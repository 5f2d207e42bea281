/** Calls in a row on one client: each is checked, and its time is what is measured. */
import { BenchError, type Contestant } from '../harness/operation.ts';
import { medianOfEach } from '../harness/timing.ts';
import { type Call, problemOf, toLine } from './messages.ts';

export interface Caller {
  exchange(line: string): Promise<string>;
}

/** Ids are never used twice, and are all as long. */
const FIRST_ID = 1_000_000;

export class Calls {
  readonly #caller: Caller;
  readonly #call: Call;
  #id = FIRST_ID;

  constructor(caller: Caller, call: Call) {
    this.#caller = caller;
    this.#call = call;
  }

  async once(): Promise<void> {
    const id = this.#id++;
    const problem = problemOf(this.#call, id, await this.#caller.exchange(toLine(this.#call, id)));
    if (problem !== '') throw new BenchError(problem);
  }
}

/** The median of so many calls, in ms. */
export function callContestant(name: string, calls: Calls, count: number): Contestant {
  return { name, run: () => medianOfEach(Array.from({ length: count }), () => calls.once()) };
}
