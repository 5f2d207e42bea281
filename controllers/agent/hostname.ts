/** The host name of a workspace: readable where it fits, unique always. Pure. */
import { createHash } from 'node:crypto';
import type { Agent } from '#api/types.ts';

const MAX_CHARS = 63;
const KEPT_CHARS = 54;

export function hostnameOf({ metadata: { name, uid }, spec: { team } }: Agent): string {
  const full = name.startsWith(`${team}-`) ? name : `${team}-${name}`;
  if (full.length <= MAX_CHARS) return full;
  const kept = full.slice(0, KEPT_CHARS).replace(/-+$/, '');
  return `${kept}-${createHash('sha256').update(uid).digest('hex').slice(0, 8)}`;
}
