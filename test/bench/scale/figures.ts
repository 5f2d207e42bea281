/** What the lives of a simulated fleet tell. Pure. */

export interface FleetFigures {
  readonly readyMs: number;
  readonly convergedMs: number;
  readonly rssMiB: number;
  readonly cpuMs: number;
  readonly changes: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface RestartFigures {
  /** From the start of the process. */
  readonly steadyMs: number;
  /** Processor time until the last agent was found. */
  readonly cpuMs: number;
  /** Versions that were made although nothing had changed. */
  readonly written: number;
}

/** The smallest value that at least this share of all does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
