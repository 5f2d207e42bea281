/** What every controller reports about its passes and its queue. */
import type { Labels, Metrics } from '#lib/metrics.ts';
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
  const labels = new Map<string, ControllerLabels>();
  const labelsOf = (controller: string): ControllerLabels => {
    const known = labels.get(controller) ?? { own: { controller }, results: new Map() };
    labels.set(controller, known);
    return known;
  };
  return {
    passed(controller, result, seconds) {
      const { own, results } = labelsOf(controller);
      const ofResult = results.get(result) ?? { controller, result };
      results.set(result, ofResult);
      total.inc(ofResult);
      duration.observe(seconds, own);
      if (result === 'error') errors.inc(own);
    },
    queueHooks(controller) {
      const { own } = labelsOf(controller);
      return { added: () => adds.inc(own), retried: () => retries.inc(own), depth: (keys) => depth.set(keys, own) };
    },
  };
}

/** The same objects each time: there are thousands of passes a second, and what labels look like as text is known by the object. */
interface ControllerLabels {
  readonly own: Labels;
  readonly results: Map<Outcome['result'], Labels>;
}
