/** Deletes events that nobody repeated for an hour. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { keyOf } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { isCode } from '#lib/errors.ts';
import type { Sweep } from './controller.ts';
import { type EventObject, isExpired } from './events.ts';
import { inTurns } from './in-turns.ts';

const EVERY_MS = 60_000;
const LOOKED_AT_IN_A_ROW = 500;

export function eventExpiry(client: Client): Sweep {
  return {
    name: 'event-expiry',
    everyMs: EVERY_MS,
    async sweep({ now, signal }) {
      const { items } = await client.list<EventObject>('Event');
      for (let at = 0; at < items.length; at += LOOKED_AT_IN_A_ROW) {
        // There may be very many, and most are younger: others have their turn in between.
        if (at > 0) await nextTurn();
        const expired = items.slice(at, at + LOOKED_AT_IN_A_ROW).filter((event) => isExpired(event, now()));
        await inTurns(expired, async (event) => {
          if (!signal.aborted) await deleteUnchanged(client, event);
        });
      }
    },
  };
}

/** An event that was repeated in the meantime is not expired any more. */
async function deleteUnchanged(client: Client, event: EventObject): Promise<void> {
  const { uid, resourceVersion } = event.metadata;
  try {
    await client.delete(keyOf(event), { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isCode(error, 'NotFound') && !isCode(error, 'Conflict')) throw error;
  }
}
