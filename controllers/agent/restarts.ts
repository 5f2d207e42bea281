/** Which exit of which agent was counted, and when it may start again. Forgotten with the daemon. */
import type { Agent } from '#api/types.ts';
import type { WorkspaceState } from '#drivers/driver.ts';

/** Back-off 1 s doubling to 30 s; more exits than this need a person. */
export const MAX_RESTARTS = 5;
const MAX_BACKOFF_MS = 30_000;
/** An agent that has run for so long is well again. */
const FORGET_RESTARTS_MS = 10 * 60 * 1_000;

export interface Restart {
  readonly incarnation: string;
  readonly count: number;
  readonly notBeforeMs: number;
}

/** Known only to the pass that starts a run. */
export type StartStatus = Partial<Pick<NonNullable<Agent['status']>, 'startedAt' | 'startedWith' | 'git' | 'backend'>>;

export class Restarts {
  readonly #restarts = new Map<string, Restart>();
  /** uid → the incarnation this process started, and what the status is to say of that. */
  readonly #started = new Map<string, { readonly incarnation: string; readonly status: StartStatus }>();
  /** uid → the incarnation that was ended because nothing was heard of it. */
  readonly #lost = new Map<string, string>();
  /** uid → the incarnation that was ended for another one. */
  readonly #replaced = new Map<string, string>();

  started(uid: string, incarnation: string, status: StartStatus): void {
    this.#started.set(uid, { incarnation, status });
  }

  hasStarted(uid: string, incarnation: string): boolean {
    return this.#started.get(uid)?.incarnation === incarnation;
  }

  /**
   * What is still to be written of the start: somebody else may have written in between, and then the pass that started it has left nothing
   * in the status.
   */
  unwritten({ metadata, status }: Agent): StartStatus | undefined {
    const started = this.#started.get(metadata.uid);
    return started && started.incarnation !== status?.incarnation ? started.status : undefined;
  }

  lost(uid: string, incarnation: string): void {
    this.#lost.set(uid, incarnation);
  }

  isLost(uid: string, incarnation: string): boolean {
    return this.#lost.get(uid) === incarnation;
  }

  replaced(uid: string, incarnation: string): void {
    this.#replaced.set(uid, incarnation);
  }

  isReplaced(uid: string, incarnation: string): boolean {
    return this.#replaced.get(uid) === incarnation;
  }

  /** The restart that follows this exit; counted once per incarnation. */
  count(uid: string, incarnation: string, nowMs: number): { readonly restart: Restart; readonly isNew: boolean } {
    const before = this.#restarts.get(uid);
    if (before?.incarnation === incarnation) return { restart: before, isNew: false };
    const isRecent = before !== undefined && nowMs - before.notBeforeMs < FORGET_RESTARTS_MS;
    const count = (isRecent ? before.count : 0) + 1;
    const restart = { incarnation, count, notBeforeMs: nowMs + restartDelayMs(count) };
    this.#restarts.set(uid, restart);
    return { restart, isNew: true };
  }

  /** A person who stops an agent and lets it run again gives it a fresh start. */
  reset(uid: string): void {
    this.#restarts.delete(uid);
  }

  forget(uid: string): void {
    for (const map of [this.#restarts, this.#started, this.#lost, this.#replaced]) map.delete(uid);
  }
}

export function restartDelayMs(restarts: number): number {
  return Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** (restarts - 1));
}

export function shouldRestart({ spec }: Agent, { failure }: Pick<WorkspaceState, 'failure'>): boolean {
  switch (spec.restartPolicy) {
    case 'Always':
      return true;
    case 'OnFailure':
      return failure !== undefined;
    case 'Never':
      return false;
  }
}
