/** Tells a problem once, not at every look; and again while it lasts, because Events are forgotten after an hour. */
import type { KindObject, ObjectKey } from '#api/meta.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import { type EventRecorder, idOfProblem, type Problem, placeholder } from './problem.ts';

export interface ComplaintsOptions {
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly clock: Clock;
}

const REPEAT_MS = 30 * 60 * 1_000;

export class Complaints {
  readonly #options: ComplaintsOptions;
  #toldAtMs = new Map<string, number>();

  constructor(options: ComplaintsOptions) {
    this.#options = options;
  }

  /** All problems there are now: one that is missing is over, and is told again when it comes back. */
  tell(problems: readonly Problem[], liveOf: (key: ObjectKey) => KindObject | undefined): void {
    const { events, log, clock } = this.#options;
    const nowMs = clock.now().getTime();
    const toldAtMs = new Map<string, number>();
    for (const problem of problems) {
      const id = idOfProblem(problem);
      const before = this.#toldAtMs.get(id) ?? toldAtMs.get(id);
      const isDue = before === undefined || nowMs - before >= REPEAT_MS;
      toldAtMs.set(id, isDue ? nowMs : before);
      if (!isDue) continue;
      log.warn({ reason: problem.reason, about: problem.about }, problem.message);
      events.warning(liveOf(problem.about) ?? placeholder(problem.about), problem.reason, problem.message);
    }
    this.#toldAtMs = toldAtMs;
  }
}
