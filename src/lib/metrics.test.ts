import { expect, it } from 'vitest';
import { controllerMetrics } from '#runtime/controller-metrics.ts';
import { Metrics } from './metrics.ts';

it('renders counters and gauges, with and without labels', () => {
  const metrics = new Metrics();
  const counter = metrics.counter('a_total', 'How many.');
  counter.inc({ x: '1' });
  counter.inc({ x: '1' }, 2);
  counter.inc({ x: '2' });
  metrics.gauge('b', 'How much.').set(Number.POSITIVE_INFINITY);
  expect(metrics.render()).toBe(
    '# HELP a_total How many.\n# TYPE a_total counter\na_total{x="1"} 3\na_total{x="2"} 1\n# HELP b How much.\n# TYPE b gauge\nb +Inf\n',
  );
});

it('escapes label values and help texts each by its own rules', () => {
  const metrics = new Metrics();
  metrics.counter('a_total', 'say "hi"\\\nbye').inc({ x: 'say "hi"\\\nbye' });
  expect(metrics.render()).toBe('# HELP a_total say "hi"\\\\\\nbye\n# TYPE a_total counter\na_total{x="say \\"hi\\"\\\\\\nbye"} 1\n');
});

it('renders a histogram with cumulative buckets', () => {
  const metrics = new Metrics();
  const histogram = metrics.histogram('h', 'H.', [0.5, 1]);
  for (const value of [0.1, 0.5, 0.7, 3]) histogram.observe(value, { c: 'x' });
  expect(metrics.render().split('\n').slice(2, -1)).toEqual([
    'h_bucket{c="x",le="0.5"} 2',
    'h_bucket{c="x",le="1"} 3',
    'h_bucket{c="x",le="+Inf"} 4',
    'h_sum{c="x"} 4.3',
    'h_count{c="x"} 4',
  ]);
});

it('refuses a second metric of the same name', () => {
  const metrics = new Metrics();
  metrics.counter('a', '');
  expect(() => metrics.gauge('a', '')).toThrow('twice');
});

it('reports passes and queues of controllers', () => {
  const metrics = new Metrics();
  const { passed, queueHooks } = controllerMetrics(metrics);
  passed('box', 'success', 0.02);
  passed('box', 'error', 0.02);
  const hooks = queueHooks('box');
  hooks.added?.();
  hooks.retried?.();
  hooks.depth?.(3);
  for (const line of [
    'agentiso_reconcile_total{controller="box",result="success"} 1',
    'agentiso_reconcile_total{controller="box",result="error"} 1',
    'agentiso_reconcile_errors_total{controller="box"} 1',
    'agentiso_reconcile_duration_seconds_count{controller="box"} 2',
    'agentiso_workqueue_depth{controller="box"} 3',
    'agentiso_workqueue_adds_total{controller="box"} 1',
    'agentiso_workqueue_retries_total{controller="box"} 1',
  ]) {
    expect(metrics.render()).toContain(`${line}\n`);
  }
});
