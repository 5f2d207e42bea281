/** Where the guest agent is: beside the bundle; from source, where the build put it. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AgentisoError } from '#lib/errors.ts';

export function guestAgentPath(): string {
  const candidates = ['guest-agent.cjs', '../dist/guest-agent.cjs'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = candidates.find(existsSync);
  if (found) return found;
  throw new AgentisoError('Internal', `the guest agent is not built: ${candidates[0]} does not exist`, { hint: 'run npm run build' });
}
