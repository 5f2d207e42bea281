/** What a copy costs that has nothing to do. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { readTree } from '#drivers/local/processes.ts';
import { figuresOf, WHOLE_ROUND } from '../agents/figures.ts';
import { cpuMs } from '../harness/idle.ts';
import { BenchError, type Operation } from '../harness/operation.ts';
import { median } from '../harness/stats.ts';
import { atMost } from '../harness/verdict.ts';
import { type Machines, machineSpec, openMachines } from './machines.ts';

const COPIES = 16;
const QUICK_COPIES = 3;
/** The last of the start: compilers begin ten seconds after it, and a collection of garbage follows. */
const REST_MS = 30_000;
const QUICK_REST_MS = 2_000;
const WATCH_MS = 30_000;
const QUICK_WATCH_MS = 5_000;
const MINUTE_MS = 60_000;
/** 80 MB. */
const LIMIT_MIB = 76;

export const idle: Operation = {
  id: 'idle',
  about:
    'sixteen copies of one template, started one after the other, 30 s after the last has answered and then for 30 s without anything to do (quick: three, and seconds); memory is the proportional share (Pss of smaps_rollup) of all processes of a copy, QEMU, bubblewrap and launcher; the goal is 80 MB',
  rounds: { full: 1, quick: 1 },
  reference: WHOLE_ROUND,
  comparisons: [
    { label: 'idle copy, memory', unit: 'MiB', ours: (of) => of('memory'), goal: atMost(LIMIT_MIB) },
    { label: '- the largest', unit: 'MiB', ours: (of) => of('largest') },
    { label: '- CPU time per minute', unit: 'ms', ours: (of) => of('cpu') },
  ],
  async open(context) {
    const machines = await openMachines(context, 'copies', 'template');
    const { copies, restMs, watchMs } = context.quick
      ? { copies: QUICK_COPIES, restMs: QUICK_REST_MS, watchMs: QUICK_WATCH_MS }
      : { copies: COPIES, restMs: REST_MS, watchMs: WATCH_MS };
    return figuresOf(['memory', 'largest', 'cpu'], () => watchCopies(machines, copies, { restMs, watchMs }));
  },
};

async function watchCopies(machines: Machines, count: number, { restMs, watchMs }: Record<'restMs' | 'watchMs', number>) {
  const specs = Array.from({ length: count }, () => machineSpec());
  try {
    const pids: number[] = [];
    for (const spec of specs) pids.push(await machines.start(spec));
    await Promise.all(specs.map(({ id }) => machines.templateOf(id)));
    await delay(restMs);
    const before = pids.map(treeCpuMs);
    await delay(watchMs);
    const spent = pids.map((pid, at) => treeCpuMs(pid) - (before[at] ?? 0));
    const sizes = pids.map(treePssMiB);
    return { memory: median(sizes), largest: Math.max(...sizes), cpu: (median(spent) / watchMs) * MINUTE_MS };
  } finally {
    await machines.remove(specs.map(({ id }) => id));
  }
}

function treeCpuMs(root: number): number {
  return readTree(root).reduce((sum, { pid }) => sum + cpuMs(pid), 0);
}

function treePssMiB(root: number): number {
  return readTree(root).reduce((sum, { pid }) => sum + pssMiB(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')), 0);
}

/** Pure. */
export function pssMiB(rollup: string): number {
  const [, kibibytes] = /^Pss:\s+(\d+) kB$/m.exec(rollup) ?? [];
  if (kibibytes === undefined) throw new BenchError('the kernel does not say what share of memory is whose');
  return Number(kibibytes) / 1024;
}
