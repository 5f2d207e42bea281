/**
 * The present turn of the event loop, shared by all who work in it. Passes that need no disk follow each other without end, and timers,
 * sockets and the disk itself would wait for all of them; so whoever takes up more work asks here first.
 */
import { setImmediate as afterThisTurn } from 'node:timers';

export interface TurnOptions {
  /** How long work may go on before others have their turn. */
  readonly sliceMs?: number;
  readonly nowMs?: () => number;
}

const SLICE_MS = 4;

export class Turn {
  readonly #sliceMs: number;
  readonly #nowMs: () => number;
  #begunMs = 0;
  #next: Promise<void> | undefined;

  constructor({ sliceMs = SLICE_MS, nowMs = () => performance.now() }: TurnOptions = {}) {
    this.#sliceMs = sliceMs;
    this.#nowMs = nowMs;
  }

  /** What to wait for before more work: nothing while the turn is young, the next turn when it has become old. */
  pause(): Promise<void> | undefined {
    if (this.#next === undefined) {
      this.#begunMs = this.#nowMs();
      this.#next = new Promise((resolve) => {
        afterThisTurn(() => {
          this.#next = undefined;
          resolve();
        });
      });
      return undefined;
    }
    return this.#nowMs() - this.#begunMs < this.#sliceMs ? undefined : this.#next;
  }
}
