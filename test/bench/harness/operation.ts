/** The shapes a benchmark is made of: contestants that yield one number per round, and comparisons of those numbers. */
import type { Random } from './random.ts';
import type { Goal } from './verdict.ts';

export interface Closable {
  close(): Promise<void>;
}

export interface BenchSettings {
  /** A fresh directory on a real disk, removed when the operation ends. */
  readonly dir: string;
  /** Sizes and counts are cut down to see that everything runs; the numbers mean little. */
  readonly quick: boolean;
  readonly random: Random;
  /** A module (store) or program (api) to measure instead of our own: proves that the harness can fail. */
  readonly subjectModule: string | undefined;
}

export interface BenchContext extends BenchSettings {
  /** Closes `thing` when the operation ends, whatever ends it; the last opened is closed first. */
  own<T extends Closable>(thing: T): T;
}

export interface Contestant {
  readonly name: string;
  /** One round; resolves to the measured value. Throws when a result is missing or wrong. */
  run(): Promise<number>;
  /** Waits, untimed, until work left behind by run() can no longer disturb the next contestant. */
  settle?(): Promise<void>;
}

/** Looks up what a contestant measured in one round. */
export type ValueOf = (contestant: string) => number;

/** One row of the table. With a reference the score is ours / reference per round, without one it is ours itself. */
export interface Comparison {
  readonly label: string;
  readonly unit: 'ms' | 'op/s' | 'MiB';
  readonly ours: (of: ValueOf) => number;
  readonly reference?: { readonly name: string; readonly value: (of: ValueOf) => number };
  /** Absent: for information only. */
  readonly goal?: Goal;
}

export interface Operation {
  readonly id: string;
  /** What exactly is compared with what, where the labels do not say it; shown below the table. */
  readonly about?: string;
  readonly rounds: {
    /** Played before any counts, so that what is measured is a server at work and not one that has just begun. Absent: one. */
    readonly warmUp?: number;
    readonly full: number;
    readonly quick: number;
  };
  /** The contestant whose CPU pressure tells whether a round was disturbed. */
  readonly reference: string;
  readonly comparisons: readonly Comparison[];
  open(context: BenchContext): Promise<readonly Contestant[]>;
}

export interface Bench {
  readonly name: string;
  readonly operations: readonly Operation[];
}

/** A measurement that cannot be trusted: an operation was lost, doubled or answered wrongly. */
export class BenchError extends Error {}

/** Something the machine lacks; the message says what to install. */
export class MissingToolError extends Error {}
