/** Pure statistics: percentiles and the bootstrap interval of a median. */
import type { Random } from './random.ts';

const RESAMPLES = 2_000;

export interface Estimate {
  readonly median: number;
  /** 95 % interval of the median. */
  readonly low: number;
  readonly high: number;
}

/** Linear interpolation between the closest ranks; `fraction` in 0..1. Throws on no samples, because no number is honest there. */
export function percentile(samples: readonly number[], fraction: number): number {
  if (samples.length === 0) throw new RangeError('percentile of no samples');
  const sorted = Float64Array.from(samples).sort();
  const rank = fraction * (sorted.length - 1);
  const below = sorted[Math.floor(rank)] ?? Number.NaN;
  const above = sorted[Math.ceil(rank)] ?? Number.NaN;
  return below + (above - below) * (rank - Math.floor(rank));
}

export function median(samples: readonly number[]): number {
  return percentile(samples, 0.5);
}

/** Percentile bootstrap: the median of many resamples with replacement. */
export function estimateMedian(samples: readonly number[], random: Random): Estimate {
  const medians = Array.from({ length: RESAMPLES }, () => median(samples.map(() => pick(samples, random))));
  return { median: median(samples), low: percentile(medians, 0.025), high: percentile(medians, 0.975) };
}

function pick(samples: readonly number[], random: Random): number {
  return samples[Math.floor(random() * samples.length)] ?? Number.NaN;
}
