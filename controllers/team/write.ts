/** A write that gives way: whoever was faster brings the next look. */
import type { KindObject } from '#api/meta.ts';
import type { Client } from '#client/client.ts';
import { isCode } from '#lib/errors.ts';

export async function updateUnlessChanged(client: Client, object: KindObject): Promise<void> {
  try {
    await client.update(object);
  } catch (error) {
    if (!isCode(error, 'Conflict') && !isCode(error, 'NotFound')) throw error;
  }
}
