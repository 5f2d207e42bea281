/**
 * When the work of agents is brought to safety: after each task, and every minute while one runs. What could not be brought is tried again until it
 * is, or until there is nothing to try it on.
 */
import type { Sessions } from '#guest/sessions.ts';

export interface SavesOptions {
  readonly sessions: Pick<Sessions, 'get' | 'onChange'>;
  /** False: not now; it is asked again. */
  readonly save: (agentUid: string) => Promise<boolean>;
  /** Agents with tasks that do not run in their guest. */
  readonly working?: () => readonly string[];
  readonly everyMs?: number;
}

export interface Saves {
  forget(agentUid: string): void;
  close(): void;
}

const EVERY_MS = 60_000;

export function scheduleSaves({ sessions, save, working = () => [], everyMs = EVERY_MS }: SavesOptions): Saves {
  const running = new Set<string>();
  /** Those whose last save did not succeed. */
  const late = new Set<string>();
  const busy = new Set<string>();
  /** Asked for while one was under way: that one may have looked too early. */
  const again = new Set<string>();
  let before: readonly string[] = [];

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
    const { runningTasks = [], pendingResults = 0 } = sessions.get(uid)?.state.heartbeat ?? {};
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
    },
    close() {
      unsubscribe();
      clearInterval(timer);
    },
  };
}
