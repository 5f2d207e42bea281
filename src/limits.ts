/** The limits of this machine: what was configured, else the defaults, and of its memory the greater part. Pure. */
import { DEFAULT_LIMITS, type Limits } from '#api/limits.ts';

/** The rest is for the system, the daemon and the caches of both. */
const SHARE_OF_MEMORY = 0.8;
const MIB = 1024 * 1024;

export function limitsOf(configured: Partial<Limits>, machineBytes: number): Limits {
  return { ...DEFAULT_LIMITS, maxMemoryMiB: Math.floor((machineBytes * SHARE_OF_MEMORY) / MIB), ...configured };
}
