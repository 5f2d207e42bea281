import { describe, expect, it } from 'vitest';
import { evaluate, measure, type Result } from './measure.ts';
import { BenchError, type Contestant, type Operation } from './operation.ts';
import { seededRandom } from './random.ts';
import type { Round } from './rounds.ts';
import { atMost } from './verdict.ts';

const ROUNDS = 20;

function operationOf(contestants: readonly Contestant[], onClose = (): void => undefined): Operation {
  return {
    id: 'example',
    rounds: { full: ROUNDS, quick: 2 },
    reference: 'peer',
    comparisons: [
      { label: 'a', unit: 'ms', ours: (of) => of('ours'), reference: { name: 'peer', value: (of) => of('peer') }, goal: atMost(0.7) },
      { label: 'b', unit: 'ms', ours: (of) => of('ours') },
    ],
    async open({ own }) {
      own({ close: async () => onClose() });
      return contestants;
    },
  };
}

function run(operation: Operation): Promise<Result> {
  const settings = { dir: '/data', quick: false, random: seededRandom(1), subjectModule: undefined };
  return measure({ operation, settings, rounds: ROUNDS, onProgress: () => undefined });
}

function playedRound(ours: number, steal: number): Round {
  const noise = { cpuSome: 0, ioSome: 0, steal };
  return { of: (name) => (name === 'ours' ? ours : 1), noise: { round: noise, reference: noise } };
}

describe('measure', () => {
  it('reports a broken measurement as a failure without paths, and still closes what was opened', async () => {
    let closed = false;
    const broken = { name: 'ours', run: () => Promise.reject(new BenchError('79 of 80 answered in /data/ours')) };
    const result = await run(operationOf([broken], () => (closed = true)));
    expect(result).toMatchObject({ verdict: 'fail', rows: [], problem: { message: '79 of 80 answered in DATA/ours' } });
    expect(closed).toBe(true);
  });

  it('fails when a result turns out wrong only on closing', async () => {
    const contestants = ['ours', 'peer'].map((name) => ({ name, run: async () => 1 }));
    const result = await run(
      operationOf(contestants, () => {
        throw new BenchError('99 puts instead of 100');
      }),
    );
    expect(result).toMatchObject({ verdict: 'fail', problem: { message: '99 puts instead of 100' } });
  });

  it('takes up to three times more rounds while undecided, then says so', async () => {
    let turn = 0;
    const ours = { name: 'ours', run: async () => (++turn % 2 === 0 ? 0.5 : 0.9) };
    const result = await run(operationOf([ours, { name: 'peer', run: async () => 1 }]));
    expect(result.roundsRun).toBe(4 * ROUNDS);
    expect(result.verdict).toBe('undecided');
  });

  it('does not count the rounds in which everything gets warm', async () => {
    let turn = 0;
    const ours = { name: 'ours', run: async () => (++turn <= 7 ? 100 : 0.5) };
    const operation = operationOf([ours, { name: 'peer', run: async () => 1 }]);
    const result = await run({ ...operation, rounds: { ...operation.rounds, warmUp: 7 } });
    expect(result.roundsRun).toBe(ROUNDS);
    expect(result.rows[0]?.score.high).toBe(0.5);
    expect(turn).toBe(ROUNDS + 7);
  });
});

describe('evaluate', () => {
  const operation = operationOf([]);

  it('takes the ratio per round, and the plain value where there is no reference', () => {
    const result = evaluate(operation, Array<Round>(20).fill(playedRound(0.5, 0)), seededRandom(1));
    expect(result).toMatchObject({ verdict: 'pass', roundsRun: 20, roundsKept: 20 });
    expect(result.rows.map(({ score, verdict }) => [score.median, verdict])).toEqual([
      [0.5, 'pass'],
      [0.5, undefined],
    ]);
  });

  it('leaves disturbed rounds out', () => {
    const rounds = [...Array<Round>(12).fill(playedRound(0.5, 0)), ...Array<Round>(8).fill(playedRound(9, 0.1))];
    expect(evaluate(operation, rounds, seededRandom(1))).toMatchObject({ verdict: 'pass', roundsRun: 20, roundsKept: 12 });
  });

  it('never passes when less than half of the rounds were quiet', () => {
    const rounds = [...Array<Round>(9).fill(playedRound(0.5, 0)), ...Array<Round>(11).fill(playedRound(0.5, 0.1))];
    const result = evaluate(operation, rounds, seededRandom(1));
    expect(result.verdict).toBe('undecided');
    expect(result.rows[0]?.verdict).toBe('undecided');
  });
});
