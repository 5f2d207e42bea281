/** Deletes events that nobody repeated for an hour. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { keyOf } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { isCode } from '#lib/errors.ts';
import type { Sweep } from './controller.ts';
import { type EventObject, isExpired } from './events.ts';

const EVERY_MS = 60_000;
const LOOKED_AT_IN_A_ROW = 500;

export function eventExpiry(client: Client): Sweep {
  return {
    name: 'event-expiry',
    everyMs: EVERY_MS,
    async sweep({ now, signal }) {
      const { items } = await client.list<EventObject>('Event');
      let count = 0;
      for (const event of items) {
        // There may be very many, and most are younger: others have their turn in between.
        if (++count % LOOKED_AT_IN_A_ROW === 0) await nextTurn();
        if (signal.aborted) return;
        if (isExpired(event, now())) await deleteUnchanged(client, event);
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
