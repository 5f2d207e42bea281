/**
 * A limit of time for a machine that is to come up. Where processors are emulated and few, others may keep it from them for minutes. That time does not count: to end
 * the machine and begin anew would only take more of what there is too little of.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readTree } from '../local/processes.ts';

/** Times the limit, whatever it waited for. */
const AT_MOST = 5;

/** Aborts after so long, and as much longer as `waitedMs` says then. */
export function fairLimit(ms: number, waitedMs: () => number): AbortSignal {
  const controller = new AbortController();
  const startMs = performance.now();
  const look = () => {
    const allowedMs = Math.min(ms + waitedMs(), AT_MOST * ms);
    const leftMs = allowedMs - (performance.now() - startMs);
    if (leftMs > 0) setTimeout(look, leftMs).unref();
    else controller.abort(new DOMException(`it took longer than ${Math.round(allowedMs)} ms`, 'TimeoutError'));
  };
  setTimeout(look, ms).unref();
  return controller.signal;
}

/** How long the one of its threads that waited longest was ready to run and had no processor. 0 where the kernel does not say, and of what is gone. */
export function waitedForProcessorMs(root: number | undefined): number {
  const delays = root === undefined ? [] : readTree(root).flatMap(({ pid }) => threadsOf(pid).map((thread) => delayOf(pid, thread)));
  return Math.max(0, ...delays);
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Nanoseconds on a processor, nanoseconds of waiting for one, and how often. */
function delayOf(pid: number, thread: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[1]) / 1e6 || 0;
  } catch {
    return 0;
  }
}
