/** A connection whose requests end with Ctrl-C, also where nobody thought of it: a server that hangs must not hold the person. */
import { setMaxListeners } from 'node:events';
import type { Connection } from './connection.ts';

/** A write that is under way is rather waited for than left in doubt. */
const GRACE_MS = 1_000;

export function interruptible(connection: Connection, signal: AbortSignal, graceMs = GRACE_MS): Connection {
  const late = new AbortController();
  // One for each request under way, and there may be many.
  setMaxListeners(0, signal, late.signal);
  let timer: NodeJS.Timeout | undefined;
  const startGrace = () => {
    timer = setTimeout(() => late.abort(), graceMs);
  };
  if (signal.aborted) startGrace();
  else signal.addEventListener('abort', startGrace, { once: true });
  return {
    name: connection.name,
    ...(connection.endpoint ? { endpoint: connection.endpoint } : {}),
    request: (request) => connection.request({ signal: request.method === 'GET' ? signal : late.signal, ...request }),
    close() {
      signal.removeEventListener('abort', startGrace);
      clearTimeout(timer);
      connection.close();
    },
  };
}
