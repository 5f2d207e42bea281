/** A thousand simulated agents and ten thousand tasks: whether they get there, how fast changes are seen then, what it costs to keep them, and a restart. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { figuresOf, WHOLE_ROUND } from '../agents/figures.ts';
import { type BenchContext, BenchError, type Operation } from '../harness/operation.ts';
import { atMost } from '../harness/verdict.ts';
import type { FleetFigures, RestartFigures } from './figures.ts';
import type { FleetProcessArgs } from './fleet-process.ts';

type Size = Omit<FleetProcessArgs, 'home' | 'seed'>;

const FULL: Size = { teams: 50, agentsPerTeam: 20, tasks: 10_000, perSecond: 200, seconds: 20 };
const QUICK: Size = { teams: 3, agentsPerTeam: 10, tasks: 150, perSecond: 50, seconds: 2 };
const LIFE_MS = 1_200_000;
/** 400 MB. */
const MAX_RSS_MIB = 400e6 / 2 ** 20;
const NAMES = ['ready', 'converged', 'p50', 'p99', 'rss', 'steady', 'cpu', 'restartCpu'] as const;
const run = promisify(execFile);

export const fleet: Operation = {
  id: 'fleet',
  about:
    'a daemon of its own process with its store, mail, controllers and API; processes, links and sockets of its 50 teams of 20 agents are simulated inside it, and so is their work, which takes no time; changes are those of the specs of Tasks (7 of 10), Agents (2) and Teams (1) chosen at random, from the wish until status.observedGeneration has followed; the restart is that of a daemon that left its agents running, from the start of the process until all are found again and nothing more is written',
  rounds: { full: 4, quick: 1 },
  reference: WHOLE_ROUND,
  comparisons: [
    { label: '1,000 agents ready', unit: 'ms', ours: (of) => of('ready') },
    { label: '1,000 agents ready and 10,000 tasks done', unit: 'ms', ours: (of) => of('converged') },
    { label: '- CPU time', unit: 'ms', ours: (of) => of('cpu') },
    { label: 'spec change -> reconciled at 200 changes/s, p99', unit: 'ms', ours: (of) => of('p99'), goal: atMost(50) },
    { label: '- p50', unit: 'ms', ours: (of) => of('p50') },
    { label: 'resident memory', unit: 'MiB', ours: (of) => of('rss'), goal: atMost(Math.floor(MAX_RSS_MIB)) },
    { label: 'restart to steady', unit: 'ms', ours: (of) => of('steady'), goal: atMost(3_000) },
    { label: '- CPU time', unit: 'ms', ours: (of) => of('restartCpu') },
  ],
  async open(context) {
    return figuresOf(NAMES, () => liveTwice(context));
  },
};

async function liveTwice({ dir, quick, random }: BenchContext): Promise<Record<(typeof NAMES)[number], number>> {
  const home = mkdtempSync(join(dir, 'fleet-'));
  try {
    const args: FleetProcessArgs = { home, seed: Math.floor(random() * 2 ** 31), ...(quick ? QUICK : FULL) };
    const first = await live<FleetFigures>(args);
    const second = await live<RestartFigures>(args);
    if (second.written > 0) throw new BenchError(`${second.written} objects were written at a restart although nothing had changed`);
    const { readyMs, convergedMs, p50Ms, p99Ms, rssMiB, cpuMs } = first;
    const { steadyMs: steady, cpuMs: restartCpu } = second;
    return { ready: readyMs, converged: convergedMs, p50: p50Ms, p99: p99Ms, rss: rssMiB, steady, cpu: cpuMs, restartCpu };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** One life of the daemon; what it answered. */
async function live<T>(args: FleetProcessArgs): Promise<T> {
  const program = process.env['AGENTISO_BENCH_SCALE'];
  if (program === undefined) throw new Error('start the benchmarks with npm run bench');
  const running = run(process.execPath, [program, JSON.stringify(args)], { timeout: LIFE_MS, killSignal: 'SIGKILL' });
  const kill = (): boolean => running.child.kill('SIGKILL');
  process.prependOnceListener('exit', kill); // before its data is removed
  try {
    return JSON.parse((await running).stdout.trim().split('\n').at(-1) ?? '') as T;
  } catch (error) {
    const stderr = (error as { stderr?: string }).stderr ?? '';
    throw new BenchError(`the fleet: ${stderr.split('\n').find((line) => /Error\b/.test(line)) ?? 'ended without an answer'}`, {
      cause: stderr,
    });
  } finally {
    process.off('exit', kill);
  }
}
