/**
 * Runs the tasks that come with the mail: as many at once as there are slots, in the order they came, each attempt at most once.
 * Everything it must not forget is on disk before it acts on it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptKey, ControlResult, TaskResult } from '#protocol/control.ts';
import type { Envelope } from '#protocol/relay.ts';
import { Freezer } from '../freezer.ts';
import type { Guest } from '../guest.ts';
import type { UnreadMessage } from '../prompt/unread.ts';
import { type Assigned, type Attempts, toKey } from '../state/attempts.ts';
import { isFull } from '../state/reserve.ts';
import type { Results } from '../state/results.ts';
import type { Artifacts } from './artifacts.ts';
import { readAssignment } from './assignment.ts';
import { MAX_RESULTS_BYTES } from './fit-result.ts';
import { runTask, toLostResult, toSupersededResult } from './run-task.ts';

const DEFAULT_SLOTS = 4;
const RETRY_MS = 2_000;

export interface TaskDaemonParts {
  readonly guest: Guest;
  readonly attempts: Attempts;
  readonly results: Results;
  readonly artifacts: Artifacts;
  /** Mail that the agent has not seen. */
  readonly unseen: () => readonly UnreadMessage[];
  /** What is running or waits to be fetched has changed. */
  readonly onChange: () => void;
  /** A result waits to be fetched, and somebody for it. */
  readonly onResult: () => void;
}

interface Run {
  readonly assigned: Assigned;
  readonly controller: AbortController;
  readonly freezer: Freezer;
  ended: Promise<void>;
  isRevoked: boolean;
}

export class TaskDaemon {
  readonly #parts: TaskDaemonParts;
  readonly #runs = new Map<string, Run>();
  /** About to run: written down as started, or on the way to it. */
  readonly #beginning = new Set<string>();
  #slots = DEFAULT_SLOTS;
  #isOpen = false;
  #isClosed = false;

  constructor(parts: TaskDaemonParts) {
    this.#parts = parts;
  }

  get running(): readonly AttemptKey[] {
    return [...this.#runs.values()].map(({ assigned: { assignment } }) => ({ taskUid: assignment.taskUid, attempt: assignment.attempt }));
  }

  /** Not started yet. */
  get waiting(): number {
    return [...this.#parts.attempts.queued.keys()].filter((key) => !this.#runs.has(key)).length;
  }

  get freeSlots(): number {
    return Math.max(0, this.#slots - this.#runs.size - this.waiting);
  }

  get pendingResults(): number {
    return this.#parts.results.size + this.#lost().length;
  }

  /** Results that the host has not heard of; undefined where it has to ask for them. */
  untold(told: ReadonlySet<string>, room: { readonly limit: number; readonly maxBytes: number }): readonly TaskResult[] | undefined {
    return this.#lost().length > 0 ? undefined : this.#parts.results.untold(told, room);
  }

  /** From here on tasks begin. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const { artifacts, attempts, guest } = this.#parts;
    void guest.reserve?.keep();
    artifacts.removeWhere((key) => attempts.isSettled(toKey(key))).catch((error: unknown) => this.#report('of old logs', error));
    this.startMore();
  }

  setSlots(slots: number): void {
    this.#slots = slots;
    this.startMore();
    this.#parts.onChange();
  }

  /** Durable when it resolves; does not wait for any task. */
  async enqueue(messages: readonly Envelope[]): Promise<void> {
    const { attempts, results } = this.#parts;
    const fresh = new Map<string, Assigned>();
    for (const message of messages) {
      const read = readAssignment(message);
      const key = toKey(read.isValid ? read.assigned.assignment : read.result);
      if (attempts.has(key) || results.has(key) || fresh.has(key)) continue;
      if (read.isValid) fresh.set(key, read.assigned);
      else await results.put(read.result);
    }
    await this.#take(fresh);
    for (const run of this.#runs.values()) if (this.#isSuperseded(run.assigned)) run.controller.abort();
    this.startMore();
    this.#parts.onChange();
  }

  /** What has a slot is written down as started in the same moment: to wait for the disk once more would only make it late. */
  async #take(fresh: ReadonlyMap<string, Assigned>): Promise<void> {
    const { attempts } = this.#parts;
    const begun = [...fresh].filter(([, assigned]) => this.#isAlone(assigned, fresh)).slice(0, this.#isOpen ? this.freeSlots : 0);
    for (const [key] of begun) this.#beginning.add(key);
    try {
      const keys = begun.map(([key]) => key);
      await attempts.queue([...fresh.values()], keys);
      for (const [key, assigned] of begun) if (attempts.started.has(key) && !this.#isClosed) this.#start(key, assigned);
    } finally {
      for (const [key] of begun) this.#beginning.delete(key);
    }
  }

  /** No other attempt of its task is here, which would have to end first. */
  #isAlone({ assignment }: Assigned, fresh: ReadonlyMap<string, Assigned>): boolean {
    const { queued, started } = this.#parts.attempts;
    const others = [...fresh.values(), ...queued.values(), ...started.values()];
    return others.every((other) => other.assignment.taskUid !== assignment.taskUid || other.assignment === assignment);
  }

  /** Safe to call at any time. */
  startMore(): void {
    const { attempts } = this.#parts;
    if (!this.#isOpen || this.#isClosed) return;
    for (const [key, assigned] of attempts.queued) {
      if (this.#runs.size >= this.#slots) return;
      if (!this.#runs.has(key)) this.#start(key, assigned);
    }
  }

  async poll(limit: number): Promise<ControlResult<'pollResults'>> {
    const lost = this.#lost().slice(0, limit).map(toLostResult);
    // Not both at once: a stored result may be as large as the answer.
    const results = lost.length > 0 ? lost : await this.#parts.results.read({ limit, maxBytes: MAX_RESULTS_BYTES });
    return { results, pendingTasks: this.waiting + this.#runs.size, running: this.running };
  }

  /** The host has the results: they are settled first and deleted then. */
  async ack(keys: readonly AttemptKey[]): Promise<void> {
    const { attempts, results, artifacts } = this.#parts;
    const lost = new Set(this.#lost().map(({ assignment }) => toKey(assignment)));
    const offered = keys.filter((key) => results.has(toKey(key)) || lost.has(toKey(key)));
    await attempts.settle(offered.map(toKey), 'acked');
    await Promise.all(
      offered.map(async (key) => {
        await artifacts.remove(key);
        await results.remove(toKey(key));
      }),
    );
    if (this.pendingResults > 0) this.#parts.onResult();
    else this.#parts.onChange();
  }

  async revoke(attemptKey: AttemptKey): Promise<boolean> {
    const { attempts, results, artifacts } = this.#parts;
    const key = toKey(attemptKey);
    const run = this.#runs.get(key);
    if (run !== undefined) {
      run.isRevoked = true;
      run.controller.abort();
    }
    await attempts.settle([key], 'revoked');
    await run?.ended;
    // It may have begun while the disk was busy.
    const late = this.#runs.get(key);
    if (late !== undefined) {
      late.isRevoked = true;
      late.controller.abort();
      await late.ended;
    }
    await artifacts.remove(attemptKey);
    await results.remove(key);
    this.#parts.onChange();
    return run !== undefined || late !== undefined;
  }

  /** False: no such attempt runs here. */
  freeze(attemptKey: AttemptKey, isFrozen: boolean): boolean {
    const run = this.#runs.get(toKey(attemptKey));
    run?.freezer.set(isFrozen);
    return run !== undefined;
  }

  /** From here on nothing starts. What runs is ended and counts as lost: the next guest on this state says so. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const runs = [...this.#runs.values()];
    for (const { controller } of runs) controller.abort();
    await Promise.all(runs.map(({ ended }) => ended));
  }

  /** Started, not running and without a result. */
  #lost(): readonly Assigned[] {
    const { attempts, results } = this.#parts;
    const isOver = (key: string) => !this.#runs.has(key) && !this.#beginning.has(key) && !results.has(key);
    return [...attempts.started].filter(([key]) => isOver(key)).map(([, assigned]) => assigned);
  }

  #isSuperseded(assigned: Assigned): boolean {
    const { queued, started } = this.#parts.attempts;
    return [...queued.values(), ...started.values()].some((other) => isOlder(assigned, other));
  }

  #start(key: string, assigned: Assigned): void {
    const older = [...this.#runs.values()].filter((run) => isOlder(run.assigned, assigned));
    const run: Run = { assigned, controller: new AbortController(), freezer: new Freezer(), ended: Promise.resolve(), isRevoked: false };
    this.#runs.set(key, run);
    run.ended = this.#follow(key, run, older).catch((error: unknown) => this.#report(key, error));
    this.#parts.onChange();
  }

  async #follow(key: string, run: Run, older: readonly Run[]): Promise<void> {
    for (const { controller, ended } of older) {
      controller.abort();
      await ended;
    }
    const isSettled = await this.#attempt(key, run);
    // The guest is stopping and has ended the command itself: the next one will say that it was lost.
    if (!isSettled) return;
    this.#runs.delete(key);
    this.#parts.onResult();
    this.startMore();
  }

  /** False: interrupted by the end of this guest. */
  async #attempt(key: string, run: Run): Promise<boolean> {
    const { guest, attempts, artifacts, unseen } = this.#parts;
    if (run.isRevoked) return true;
    if (!attempts.started.has(key) && !(await this.#persist(key, () => attempts.markStarted(key), run))) return !this.#isClosed;
    if (run.isRevoked) return true;
    if (this.#isClosed || guest.groups.isClosed) return false;
    await guest.reserve?.keep();
    const result = this.#isSuperseded(run.assigned)
      ? toSupersededResult(run.assigned)
      : await runTask({ guest, assigned: run.assigned, artifacts, unseen, freezer: run.freezer, signal: run.controller.signal });
    // Whoever hears of the result relies on the files. A disk that fails is no reason to keep the result back.
    await guest.syncFiles?.().catch((error: unknown) => this.#report(key, error));
    if (this.#isClosed || guest.groups.isClosed) return false;
    return (await this.#persist(key, () => this.#parts.results.put(result), run)) || !this.#isClosed;
  }

  /** A full disk holds up the attempt, it does not lose it. False: revoked or closed meanwhile. */
  async #persist(key: string, write: () => Promise<void>, run: Run): Promise<boolean> {
    while (!run.isRevoked && !this.#isClosed) {
      try {
        await write();
        return true;
      } catch (error) {
        if (isFull(error) && (await this.#parts.guest.reserve?.spend())) continue;
        this.#report(key, error);
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
    return false;
  }

  #report(key: string, error: unknown): void {
    this.#parts.guest.log.write('guest', `task attempt ${key}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isOlder(one: Assigned, other: Assigned): boolean {
  return one.assignment.taskUid === other.assignment.taskUid && one.assignment.attempt < other.assignment.attempt;
}
