/** Waits until a process has nothing to do any more, as its threads' time on the CPU tells. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { BenchError } from './operation.ts';

const SLICE_MS = 25;
/** Timers and heartbeats go on for ever; work does not stay below this share of one CPU. */
const IDLE_SHARE = 0.05;
const IDLE_SLICES = 3;
const TIMEOUT_MS = 120_000;

/** Throws after two minutes: whatever still works then disturbs the next measurement. */
export async function untilIdle(pid: number): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  let idle = 0;
  let before = cpuMs(pid);
  while (idle < IDLE_SLICES) {
    if (performance.now() > deadline) throw new BenchError('the server does not come to rest');
    await delay(SLICE_MS);
    const now = cpuMs(pid);
    idle = now - before <= SLICE_MS * IDLE_SHARE ? idle + 1 : 0;
    before = now;
  }
}

/** Of all threads: the pool's threads do the disk work. */
export function cpuMs(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce((sum, thread) => sum + parseOnCpuMs(readSchedule(`${tasks}/${thread}/schedstat`)), 0);
}

/** The first number is nanoseconds on the CPU. */
export function parseOnCpuMs(schedstat: string): number {
  return Number(/^\d+/.exec(schedstat)?.[0] ?? 0) / 1e6;
}

function readSchedule(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // A thread that ended in between.
    return '';
  }
}
