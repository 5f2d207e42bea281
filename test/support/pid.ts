/** Whether a process is there. */
import { readProcessIdentity } from '#lib/process-identity.ts';

/** A process that ended and is not reaped yet counts as gone. */
export function isPidAlive(pid: number): boolean {
  return readProcessIdentity(pid) !== undefined;
}
