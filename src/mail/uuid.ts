/** UUIDs of version 7: they begin with the time, so that ids of one mailbox sort roughly as they were made. */
import { randomBytes } from 'node:crypto';

/** Asked of the system, and made text, for many ids at once: one by one, that is most of what an id costs. */
const POOL_IDS = 400;
const RANDOM_DIGITS = 20;
const VARIANTS = '89ab';
let pool = '';
let used = 0;
/** Thousands of messages a second have the same time. */
let last = { ms: Number.NaN, digits: '' };

export function uuidV7(nowMs: number): string {
  if (used === pool.length) {
    pool = randomBytes((POOL_IDS * RANDOM_DIGITS) / 2).toString('hex');
    used = 0;
  }
  const at = used;
  used += RANDOM_DIGITS;
  if (nowMs !== last.ms) last = { ms: nowMs, digits: timeDigits(nowMs) };
  const variant = VARIANTS[pool.charCodeAt(at + 4) & 3];
  return `${last.digits}-7${pool.slice(at + 1, at + 4)}-${variant}${pool.slice(at + 5, at + 8)}-${pool.slice(at + 8, at + RANDOM_DIGITS)}`;
}

function timeDigits(nowMs: number): string {
  const digits = nowMs.toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
