/** Waiting for a message that somebody looks for. It takes nothing away, and when it has ended nothing of it is left. */
import type { Envelope } from '#protocol/relay.ts';
import type { Inbox } from '../state/inbox.ts';

/** Only in case that an event is ever missed. */
const POLL_MS = 500;

export interface WaitOptions {
  readonly timeoutMs: number;
  /** Aborted: nobody waits any more. */
  readonly signal: AbortSignal;
}

/** The first unseen message that is wanted: one that is there already, or the next that comes; undefined when the time is over. */
export function waitForMail(
  inbox: Pick<Inbox, 'unseen' | 'onMail'>,
  isWanted: (message: Envelope) => boolean,
  { timeoutMs, signal }: WaitOptions,
): Promise<Envelope | undefined> {
  return new Promise((resolve, reject) => {
    const find = () => inbox.unseen().find(isWanted);
    const present = signal.aborted ? undefined : find();
    if (signal.aborted) return reject(signal.reason);
    if (present !== undefined) return resolve(present);
    const end = () => {
      clearInterval(poll);
      clearTimeout(limit);
      stopListening();
      signal.removeEventListener('abort', abort);
    };
    const look = () => {
      const found = find();
      if (found === undefined) return;
      end();
      resolve(found);
    };
    const abort = () => {
      end();
      reject(signal.reason);
    };
    const poll = setInterval(look, POLL_MS);
    const limit = setTimeout(() => {
      end();
      resolve(find());
    }, timeoutMs);
    const stopListening = inbox.onMail(look);
    signal.addEventListener('abort', abort);
  });
}
