/**
 * When a session is a reason to look at its agent. Whether the guest can be reached is looked at once; that it has begun or ended a task
 * may happen many times a second, and is looked at again after a pause, because each look may end in a write to disk.
 */
import type { Agent } from '#api/types.ts';
import type { Session, Sessions } from '#guest/sessions.ts';
import type { Wake } from '#runtime/controller.ts';

export interface SessionWakesOptions {
  readonly sessions: Pick<Sessions, 'get' | 'onChange'>;
  readonly agentByUid: (uid: string) => Agent | undefined;
  readonly wake: (uid: string) => void;
}

interface Looked {
  readonly connection: string;
  readonly atMs: number;
  timer?: NodeJS.Timeout;
}

/** What an agent does is shown within a second. */
const SPACING_MS = 1_000;

/** Returns how to stop. */
export function sessionWakes({ sessions, agentByUid, wake }: SessionWakesOptions): ReturnType<Wake> {
  const looked = new Map<string, Looked>();
  const forget = (uid: string) => {
    clearTimeout(looked.get(uid)?.timer);
    looked.delete(uid);
  };
  const look = (uid: string, connection: string) => {
    forget(uid);
    looked.set(uid, { connection, atMs: performance.now() });
    wake(uid);
  };
  const onChange = (uid: string) => {
    const session = sessions.get(uid);
    if (!session) {
      forget(uid);
      wake(uid);
      return;
    }
    const connection = connectionOf(session);
    const last = looked.get(uid);
    const leftMs = (last?.atMs ?? Number.NEGATIVE_INFINITY) + SPACING_MS - performance.now();
    if (!last || last.connection !== connection || leftMs <= 0 || isEnding(agentByUid(uid))) look(uid, connection);
    else last.timer ??= setTimeout(lookAgain, leftMs, uid).unref();
  };
  // A timer may be early by a fraction, and must not find that it has to wait.
  const lookAgain = (uid: string) => {
    forget(uid);
    onChange(uid);
  };
  const unsubscribe = sessions.onChange(onChange);
  return () => {
    unsubscribe();
    for (const uid of [...looked.keys()]) forget(uid);
  };
}

function connectionOf({ incarnation, state }: Session): string {
  const { isControlOpen, isRelayOpen, problem, heartbeat } = state;
  return JSON.stringify([incarnation, isControlOpen, isRelayOpen, problem, heartbeat !== undefined]);
}

/** One that is to stop is waited for until it has nothing left to do. */
function isEnding(agent: Agent | undefined): boolean {
  return agent?.spec.desiredState === 'Stopped' || agent?.metadata.deletionTimestamp !== undefined;
}
