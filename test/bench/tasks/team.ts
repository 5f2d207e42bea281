/** The process with the daemon and its team, as the benchmarks use it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BenchContext, BenchError } from '../harness/operation.ts';
import type { TaskOrder, TaskReport } from './team-process.ts';

const ANSWER_MS = 900_000;
const STOP_MS = 60_000;

export interface WorkingTeam {
  do(order: TaskOrder): Promise<Required<Pick<TaskReport, 'elapsedMs' | 'startsMs'>>>;
}

export async function openTeam(context: BenchContext, agents: number): Promise<WorkingTeam> {
  const program = process.env['AGENTISO_BENCH_TASKS'];
  if (program === undefined) throw new Error('start the benchmarks with npm run bench');
  const home = join(context.dir, 'home');
  mkdirSync(home);
  const child = spawn(process.execPath, [program, JSON.stringify({ home, agents })], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  // The channel goes with this process; then the daemon ends its agents and itself.
  context.own({
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.send('end');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await exited;
      clearTimeout(timer);
    },
  });
  const nextReport = async (): Promise<TaskReport> => {
    const [report] = (await once(child, 'message', { signal: AbortSignal.timeout(ANSWER_MS) })) as [TaskReport];
    if (report.problem !== undefined) throw new BenchError(`the team: ${report.problem}`);
    return report;
  };
  await nextReport();
  return {
    async do(order) {
      const answer = nextReport();
      child.send(order);
      const { elapsedMs = 0, startsMs = [] } = await answer;
      if (startsMs.length !== order.count) throw new BenchError(`${startsMs.length} of ${order.count} tasks were done`);
      return { elapsedMs, startsMs };
    },
  };
}
