/** Runs rounds: every contestant once per round, in random order, with the machine's noise recorded beside the values. */

import { type Noise, noiseBetween, type RoundNoise, readCounters } from './noise.ts';
import { BenchError, type Contestant, type ValueOf } from './operation.ts';
import { type Random, shuffled } from './random.ts';

export interface Round {
  readonly of: ValueOf;
  readonly noise: RoundNoise;
}

export interface RoundOptions {
  readonly contestants: readonly Contestant[];
  readonly reference: string;
  readonly random: Random;
}

export async function runRound({ contestants, reference, random }: RoundOptions): Promise<Round> {
  const values = new Map<string, number>();
  const noises = new Map<string, Noise>();
  const start = readCounters();
  for (const contestant of shuffled(contestants, random)) {
    // Garbage of the contestant before must not be collected on this one's time.
    globalThis.gc?.();
    const before = readCounters();
    values.set(contestant.name, await contestant.run());
    noises.set(contestant.name, noiseBetween(before, readCounters()));
    await contestant.settle?.();
  }
  const round = noiseBetween(start, readCounters());
  return { of: lookUp(values), noise: { round, reference: noises.get(reference) ?? round } };
}

function lookUp(values: ReadonlyMap<string, number>): ValueOf {
  return (name) => {
    const value = values.get(name);
    if (value === undefined || !Number.isFinite(value) || value <= 0) throw new BenchError(`${name} measured ${value}`);
    return value;
  };
}
