/** What else the machine did while we measured, and which rounds that spoils. */
import { readFileSync } from 'node:fs';
import { median } from './stats.ts';

const MAX_STEAL = 0.02;
const MAX_PSI_OVER_MEDIAN = 2;
/** On a quiet machine the median is near zero and twice it means nothing: below this share a round is never spoiled. */
const PSI_FLOOR = 0.02;

/** Running totals; undefined where the kernel does not tell. */
export interface Counters {
  readonly atMs: number;
  readonly cpuSomeUs: number | undefined;
  readonly ioSomeUs: number | undefined;
  readonly stealTicks: number;
  readonly totalTicks: number;
}

/** Shares (0..1) of the time between two readings. */
export interface Noise {
  readonly cpuSome: number | undefined;
  readonly ioSome: number | undefined;
  readonly steal: number;
}

export interface RoundNoise {
  readonly round: Noise;
  readonly reference: Noise;
}

export function readCounters(): Counters {
  const ticks = (readText('/proc/stat') ?? '').split('\n', 1)[0]?.trim().split(/\s+/).slice(1, 9).map(Number) ?? [];
  return {
    atMs: performance.now(),
    cpuSomeUs: parseSomeTotal(readText('/proc/pressure/cpu')),
    ioSomeUs: parseSomeTotal(readText('/proc/pressure/io')),
    stealTicks: ticks[7] ?? 0,
    totalTicks: ticks.reduce((sum, tick) => sum + tick, 0),
  };
}

export function noiseBetween(before: Counters, after: Counters): Noise {
  const elapsedUs = (after.atMs - before.atMs) * 1_000;
  const share = (from: number | undefined, to: number | undefined): number | undefined =>
    from === undefined || to === undefined || elapsedUs <= 0 ? undefined : (to - from) / elapsedUs;
  const ticks = after.totalTicks - before.totalTicks;
  return {
    cpuSome: share(before.cpuSomeUs, after.cpuSomeUs),
    ioSome: share(before.ioSomeUs, after.ioSomeUs),
    steal: ticks > 0 ? (after.stealTicks - before.stealTicks) / ticks : 0,
  };
}

/** True for each round that may count: little steal, and no CPU pressure on the reference far above the run's own. */
export function isQuiet(rounds: readonly RoundNoise[]): boolean[] {
  const pressures = rounds.flatMap(({ reference }) => reference.cpuSome ?? []);
  const limit = pressures.length === 0 ? Number.POSITIVE_INFINITY : Math.max(PSI_FLOOR, MAX_PSI_OVER_MEDIAN * median(pressures));
  return rounds.map(({ round, reference }) => round.steal <= MAX_STEAL && (reference.cpuSome ?? 0) <= limit);
}

export function typicalNoise(rounds: readonly Noise[]): Noise {
  const medianOf = (values: readonly number[]): number | undefined => (values.length === 0 ? undefined : median(values));
  return {
    cpuSome: medianOf(rounds.flatMap(({ cpuSome }) => cpuSome ?? [])),
    ioSome: medianOf(rounds.flatMap(({ ioSome }) => ioSome ?? [])),
    steal: medianOf(rounds.map(({ steal }) => steal)) ?? 0,
  };
}

export function parseSomeTotal(text: string | undefined): number | undefined {
  const total = /^some .*total=(\d+)/m.exec(text ?? '')?.[1];
  return total === undefined ? undefined : Number(total);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
