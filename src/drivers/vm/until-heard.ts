/** Something is said to a guest until it was heard: a connection over a port can be lost without its machine having ended. */
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { isConnectionLost } from '#guest/handshake.ts';
import { WaitingError } from '#lib/errors.ts';

const PAUSE_MS = 50;

/** `say` is called again, on another connection, when the one before was lost or it throws WaitingError. */
export async function untilHeard<T>(connect: () => Promise<Duplex>, say: (stream: Duplex) => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    const stream = await connect();
    try {
      return await say(stream);
    } catch (error) {
      if (signal.aborted || !(isConnectionLost(error) || error instanceof WaitingError)) throw error;
    }
    await pause(PAUSE_MS, undefined, { signal });
  }
}
