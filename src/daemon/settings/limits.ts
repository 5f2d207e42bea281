/** The limits of this machine: what was configured, else the defaults, and of its memory the greater part. Pure. */
import { DEFAULT_LIMITS, type Limits } from '#api/limits.ts';
import type { ConfiguredLimits } from '#config';
import { type Rates, USUAL_RATES } from '#relay/rates.ts';

/** The rest is for the system, the daemon and the caches of both. */
const SHARE_OF_MEMORY = 0.8;
const MIB = 1024 * 1024;

export function limitsOf({ rates, ...configured }: ConfiguredLimits, machineBytes: number): Limits {
  return { ...DEFAULT_LIMITS, maxMemoryMiB: Math.floor((machineBytes * SHARE_OF_MEMORY) / MIB), ...configured };
}

export function ratesOf({ rates }: ConfiguredLimits): Rates {
  return { ...USUAL_RATES, ...rates };
}
