/** Measures one operation: as many rounds as the verdict needs, within its limits. */
import { isQuiet, type Noise, typicalNoise } from './noise.ts';
import { type BenchSettings, type Comparison, MissingToolError, type Operation } from './operation.ts';
import { type Owner, withOwner } from './owner.ts';
import { type Problem, toProblem } from './problem.ts';
import type { Random } from './random.ts';
import { type Round, runRound } from './rounds.ts';
import { type Estimate, estimateMedian, median } from './stats.ts';
import { judge, type Verdict, worstOf } from './verdict.ts';

/** An undecided operation may take this many times its rounds on top. */
const EXTRA_ROUNDS = 3;
const DISTURBED: Problem = { message: 'more than half of the rounds were disturbed by other load' };

export interface Row {
  readonly comparison: Comparison;
  readonly ours: number;
  readonly reference: number | undefined;
  /** Of the per-round scores: ratios, or plain values when there is no reference. */
  readonly score: Estimate;
  /** Absent: for information only. */
  readonly verdict: Verdict | undefined;
}

export interface Result {
  readonly id: string;
  readonly rows: readonly Row[];
  readonly verdict: Verdict;
  readonly roundsRun: number;
  readonly roundsKept: number;
  /** Medians over all rounds. */
  readonly noise?: Noise;
  /** See Operation. */
  readonly about?: string;
  /** Why there are no numbers, or none to trust. */
  readonly problem?: Problem;
}

export interface MeasureOptions {
  readonly operation: Operation;
  readonly settings: BenchSettings;
  readonly rounds: number;
  readonly onProgress: (done: number, planned: number) => void;
}

export async function measure(options: MeasureOptions): Promise<Result> {
  try {
    return await withOwner((owner) => measureRounds(options, owner));
  } catch (error) {
    if (error instanceof MissingToolError) throw error;
    const problem = toProblem(error, options.settings.dir);
    return { id: options.operation.id, rows: [], verdict: 'fail', roundsRun: 0, roundsKept: 0, problem };
  }
}

async function measureRounds({ operation, settings, rounds, onProgress }: MeasureOptions, { own }: Owner): Promise<Result> {
  const { reference } = operation;
  const { random } = settings;
  const contestants = await operation.open({ ...settings, own });
  const play = (): Promise<Round> => runRound({ contestants, reference, random });
  for (let warm = 0; warm < (settings.quick ? 1 : (operation.rounds.warmUp ?? 1)); warm += 1) await play();
  const played: Round[] = [];
  for (let planned = rounds; ; planned += rounds) {
    while (played.length < planned) {
      onProgress(played.length + 1, planned);
      played.push(await play());
    }
    const result = evaluate(operation, played, random);
    if (result.verdict !== 'undecided' || planned >= rounds * (1 + EXTRA_ROUNDS)) return result;
  }
}

/** Too many disturbed rounds: the numbers of all rounds are shown, but nothing is said about the goals. */
export function evaluate({ id, about, comparisons }: Operation, played: readonly Round[], random: Random): Result {
  const noises = played.map(({ noise }) => noise);
  const quiet = isQuiet(noises);
  const kept = played.filter((_, index) => quiet[index]);
  const enough = kept.length * 2 >= played.length;
  const rows = comparisons.map((comparison) => toRow(comparison, enough ? kept : played, random));
  const noise = typicalNoise(noises.map(({ round }) => round));
  const result = { id, ...(about ? { about } : {}), roundsRun: played.length, roundsKept: kept.length, noise };
  if (enough) return { ...result, rows, verdict: worstOf(rows.flatMap(({ verdict }) => verdict ?? [])) };
  const distrusted = rows.map((row) => (row.verdict === undefined ? row : { ...row, verdict: 'undecided' as const }));
  return { ...result, rows: distrusted, verdict: 'undecided', problem: DISTURBED };
}

function toRow(comparison: Comparison, kept: readonly Round[], random: Random): Row {
  const ours = kept.map(({ of }) => comparison.ours(of));
  const references = kept.map(({ of }) => comparison.reference?.value(of));
  const score = estimateMedian(
    ours.map((value, index) => value / (references[index] ?? 1)),
    random,
  );
  return {
    comparison,
    ours: median(ours),
    reference: comparison.reference && median(references.flatMap((value) => value ?? [])),
    score,
    verdict: comparison.goal && judge(score, comparison.goal),
  };
}
