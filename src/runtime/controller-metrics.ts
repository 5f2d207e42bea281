/** What every controller reports about its passes and its queue. */
import type { Metrics } from '#lib/metrics.ts';
import type { QueueHooks } from './queue.ts';
import type { Outcome } from './reconcile.ts';

export interface ControllerMetrics {
  passed(controller: string, result: Outcome['result'], seconds: number): void;
  queueHooks(controller: string): QueueHooks;
}

export function controllerMetrics(metrics: Metrics): ControllerMetrics {
  const total = metrics.counter('agentiso_reconcile_total', 'Passes of a controller by result.');
  const duration = metrics.histogram('agentiso_reconcile_duration_seconds', 'How long a pass took.');
  const errors = metrics.counter('agentiso_reconcile_errors_total', 'Passes that ended in back-off.');
  const depth = metrics.gauge('agentiso_workqueue_depth', 'Keys that wait for a pass.');
  const adds = metrics.counter('agentiso_workqueue_adds_total', 'Keys that entered the queue, duplicates not counted.');
  const retries = metrics.counter('agentiso_workqueue_retries_total', 'Keys that were put back after a failure.');
  return {
    passed(controller, result, seconds) {
      total.inc({ controller, result });
      duration.observe(seconds, { controller });
      if (result === 'error') errors.inc({ controller });
    },
    queueHooks: (controller) => ({
      added: () => adds.inc({ controller }),
      retried: () => retries.inc({ controller }),
      depth: (keys) => depth.set(keys, { controller }),
    }),
  };
}
