/** Runs a sweep now and then, until it is told to stop. A failure is reported and the next round tries again. */
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/log.ts';
import type { Sweep } from './controller.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import type { EventLog } from './events.ts';
import { sleep } from './sleep.ts';

export interface SweepLoopOptions {
  readonly log: Logger;
  readonly clock: Clock;
  readonly metrics: ControllerMetrics;
  readonly events: EventLog;
  /** No further round. */
  readonly stopping: AbortSignal;
  /** What the sweep sees. */
  readonly passSignal: AbortSignal;
}

export async function runSweep(sweep: Sweep, options: SweepLoopOptions): Promise<void> {
  while (!options.stopping.aborted) {
    await sweepOnce(sweep, options);
    await sleep(sweep.everyMs, options.stopping);
  }
}

async function sweepOnce(sweep: Sweep, { log, clock, metrics, events, passSignal: signal }: SweepLoopOptions): Promise<void> {
  const ctx = { log: log.child({ controller: sweep.name }), now: () => clock.now(), signal, events: events.recorder(sweep.name) };
  const startedMs = performance.now();
  let result: 'success' | 'error' = 'success';
  try {
    await sweep.sweep(ctx);
  } catch (error) {
    result = 'error';
    ctx.log.error({ err: error }, 'sweep failed');
  }
  metrics.passed(sweep.name, result, (performance.now() - startedMs) / 1_000);
}
