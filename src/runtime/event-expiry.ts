/** Deletes events that nobody repeated for an hour. */
import { keyOf } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { isCode } from '#lib/errors.ts';
import type { Sweep } from './controller.ts';
import { type EventObject, isExpired } from './events.ts';

const EVERY_MS = 60_000;

export function eventExpiry(client: Client): Sweep {
  return {
    name: 'event-expiry',
    everyMs: EVERY_MS,
    async sweep({ now, signal }) {
      const { items } = await client.list<EventObject>('Event');
      for (const event of items) {
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
