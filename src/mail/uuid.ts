/** UUIDs of version 7: they begin with the time, so that ids of one mailbox sort roughly as they were made. */
import { randomFillSync } from 'node:crypto';

/** Asked of the system for many ids at once: one by one, that is most of what an id costs. */
const pool = Buffer.alloc(4_000);
const RANDOM_BYTES = 10;
let used = pool.length;

export function uuidV7(nowMs: number): string {
  if (used + RANDOM_BYTES > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + RANDOM_BYTES);
  used += RANDOM_BYTES;
  random.writeUInt8((random.readUInt8(0) & 0x0f) | 0x70, 0);
  random.writeUInt8((random.readUInt8(2) & 0x3f) | 0x80, 2);
  const time = nowMs.toString(16).padStart(12, '0');
  const hex = random.toString('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-${hex.slice(0, 4)}-${hex.slice(4, 8)}-${hex.slice(8)}`;
}
