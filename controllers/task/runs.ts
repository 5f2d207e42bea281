/** The attempts this process has claimed: started once, their outcome kept until it is in the Task. */
import { messageOf } from '#lib/errors.ts';
import type { Key, Wake } from '#runtime/controller.ts';
import type { CommandResult } from './controller.ts';

export type Outcome = { readonly result: CommandResult } | { readonly error: string };

interface Run {
  readonly attempt: number;
  readonly controller: AbortController;
  isStarted: boolean;
  outcome: Outcome | undefined;
}

export interface CurrentRun {
  readonly isStarted: boolean;
  readonly outcome: Outcome | undefined;
  abort(): void;
}

export class Runs {
  readonly #runs = new Map<string, Run>();
  readonly #listeners = new Set<(key: Key) => void>();

  /** Wakes a Task whose command has ended. */
  readonly wake: Wake = (enqueue) => {
    this.#listeners.add(enqueue);
    return () => this.#listeners.delete(enqueue);
  };

  claim(uid: string, attempt: number): void {
    this.#runs.set(uid, { attempt, controller: new AbortController(), isStarted: false, outcome: undefined });
  }

  get(uid: string, attempt: number): CurrentRun | undefined {
    const run = this.#runs.get(uid);
    if (run?.attempt !== attempt) return undefined;
    return { isStarted: run.isStarted, outcome: run.outcome, abort: () => run.controller.abort() };
  }

  /** For a Task that is gone. */
  forget(uid: string): void {
    this.#runs.delete(uid);
  }

  start(uid: string, attempt: number, key: Key, work: (signal: AbortSignal) => Promise<CommandResult>): void {
    const run = this.#runs.get(uid);
    if (run?.attempt !== attempt || run.isStarted) return;
    run.isStarted = true;
    void work(run.controller.signal)
      .then(
        (result): Outcome => ({ result }),
        (error: unknown): Outcome => ({ error: messageOf(error) }),
      )
      .then((outcome) => {
        run.outcome = outcome;
        for (const listener of this.#listeners) listener(key);
      });
  }
}
