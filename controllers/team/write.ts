/** A write that gives way to whoever was faster. */
import type { KindObject } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { isCode } from '#lib/errors.ts';

/** False: it gave way, and what it was to bring is still to be done, unless the object is gone. */
export async function updateUnlessChanged(client: Client, object: KindObject): Promise<boolean> {
  try {
    await client.update(object);
    return true;
  } catch (error) {
    if (!isCode(error, 'Conflict') && !isCode(error, 'NotFound')) throw error;
    return false;
  }
}
