/** A connection whose requests end with Ctrl-C, also where nobody thought of it: a server that hangs must not hold the person. */
import { setMaxListeners } from 'node:events';
import type { Connection } from './connection.ts';

/** A write that is under way is rather waited for than left in doubt. */
const GRACE_MS = 1_000;

export function interruptible(connection: Connection, signal: AbortSignal, graceMs = GRACE_MS): Connection {
  // One for each request under way, and there may be many.
  setMaxListeners(0, signal);
  // With the first write: most commands only read, and end before they would need it.
  let late: LateSignal | undefined;
  const lateOne = () => {
    late ??= lateSignal(signal, graceMs);
    return late.signal;
  };
  return {
    name: connection.name,
    ...(connection.endpoint ? { endpoint: connection.endpoint } : {}),
    request: (request) => connection.request({ signal: request.method === 'GET' ? signal : lateOne(), ...request }),
    close() {
      late?.forget();
      connection.close();
    },
  };
}

interface LateSignal {
  readonly signal: AbortSignal;
  forget(): void;
}

/** Aborts some time after the other one. */
function lateSignal(signal: AbortSignal, graceMs: number): LateSignal {
  const late = new AbortController();
  setMaxListeners(0, late.signal);
  let timer: NodeJS.Timeout | undefined;
  const startGrace = () => {
    timer = setTimeout(() => late.abort(), graceMs);
  };
  if (signal.aborted) startGrace();
  else signal.addEventListener('abort', startGrace, { once: true });
  return {
    signal: late.signal,
    forget() {
      signal.removeEventListener('abort', startGrace);
      clearTimeout(timer);
    },
  };
}
