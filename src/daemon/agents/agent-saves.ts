/**
 * When the work of agents is brought to safety: after each task, every minute while one runs, and soon after a guest has told of a commit. What could
 * not be brought is tried again until it is, or until there is nothing to try it on.
 */
import type { Sessions } from '#guest/sessions.ts';

export interface SavesOptions {
  readonly sessions: Pick<Sessions, 'get' | 'onChange'>;
  /** False: not now; it is asked again. */
  readonly save: (agentUid: string) => Promise<boolean>;
  /** The last commit of it that is safe already. */
  readonly savedHead?: (agentUid: string) => string | undefined;
  /** Agents with tasks that do not run in their guest. */
  readonly working?: () => readonly string[];
  readonly everyMs?: number;
}

export interface Saves {
  forget(agentUid: string): void;
  close(): void;
}

const EVERY_MS = 60_000;
/** Between a commit and its saving: whoever makes one often makes the next at once. */
const COMMIT_MS = 500;

export function scheduleSaves(options: SavesOptions): Saves {
  const { sessions, save, savedHead = () => undefined, working = () => [], everyMs = EVERY_MS } = options;
  const running = new Set<string>();
  /** Those whose last save did not succeed. */
  const late = new Set<string>();
  const busy = new Set<string>();
  /** Asked for while one was under way: that one may have looked too early. */
  const again = new Set<string>();
  let before: readonly string[] = [];
  const commits = new Commits({ savedHead, bring });

  async function bring(uid: string): Promise<void> {
    if (busy.has(uid)) {
      again.add(uid);
      return;
    }
    busy.add(uid);
    late.delete(uid);
    try {
      if (!(await save(uid))) late.add(uid);
    } finally {
      busy.delete(uid);
    }
    if (again.delete(uid)) await bring(uid);
  }

  /** A result is in the heartbeat from when it is there until it is taken, however short its task was. */
  const unsubscribe = sessions.onChange((uid) => {
    const { runningTasks = [], pendingResults = 0, head } = sessions.get(uid)?.state.heartbeat ?? {};
    if (head !== undefined) commits.told(uid, head);
    const wasRunning = running.has(uid);
    if (runningTasks.length > 0) running.add(uid);
    else running.delete(uid);
    if (pendingResults > 0 || (wasRunning && runningTasks.length === 0)) void bring(uid);
  });
  const timer = setInterval(() => {
    const now = [...running, ...working()];
    for (const uid of new Set([...now, ...before, ...late])) void bring(uid);
    before = now;
  }, everyMs);
  timer.unref();
  return {
    forget(uid) {
      running.delete(uid);
      late.delete(uid);
      again.delete(uid);
      commits.forget(uid);
    },
    close() {
      commits.close();
      unsubscribe();
      clearInterval(timer);
    },
  };
}

interface CommitsOptions {
  readonly savedHead: (agentUid: string) => string | undefined;
  readonly bring: (agentUid: string) => Promise<void>;
}

/** Commits that guests have told of. */
class Commits {
  readonly #options: CommitsOptions;
  /** Agent → the last commit it told of: one that cannot be saved is not tried with every sign of life. */
  readonly #told = new Map<string, string>();
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(options: CommitsOptions) {
    this.#options = options;
  }

  told(uid: string, head: string): void {
    if (this.#told.get(uid) === head) return;
    this.#told.set(uid, head);
    if (this.#timers.has(uid) || this.#options.savedHead(uid) === head) return;
    const timer = setTimeout(() => {
      this.#timers.delete(uid);
      // A task that has ended meanwhile may have had it saved.
      if (this.#options.savedHead(uid) !== this.#told.get(uid)) void this.#options.bring(uid);
    }, COMMIT_MS);
    timer.unref();
    this.#timers.set(uid, timer);
  }

  forget(uid: string): void {
    this.#told.delete(uid);
    clearTimeout(this.#timers.get(uid));
    this.#timers.delete(uid);
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
