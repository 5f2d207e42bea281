import { describe, expect, it } from 'vitest';
import type { Agent, Merge } from '#api/types.ts';
import { Metrics } from '#lib/metrics.ts';
import { Transitions, workMetrics } from './work-metrics.ts';

const agent = (uid: string, phase?: string, driver = 'sandbox') =>
  ({ kind: 'Agent', metadata: { uid }, spec: {}, status: { phase, isolation: { driver } } }) as unknown as Agent;
const merge = (uid: string, phase: string, times: object = {}) =>
  ({ kind: 'Merge', metadata: { uid }, spec: {}, status: { phase, ...times } }) as unknown as Merge;
/** Without the words for people. */
const linesOf = (metrics: Metrics) =>
  metrics
    .render()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#') && !line.includes('_bucket'));

describe('work', () => {
  it('is counted as it is when somebody asks', () => {
    const metrics = new Metrics();
    const kinds: Record<string, unknown[]> = {
      Agent: [agent('1', 'Ready'), agent('2', 'Ready'), agent('3', 'Failed', 'vm')],
      Team: [{ status: { phase: 'Ready' } }, {}],
      Task: [],
    };
    let drift: (what: string) => void = () => {};
    const { onExec } = workMetrics({
      metrics,
      store: { list: (kind: string) => ({ items: kinds[kind] }) } as never,
      network: {
        onDrift: (listener) => {
          drift = listener;
          return () => {};
        },
      },
    });
    kinds['Task'] = [{ status: { phase: 'Running' } }];
    drift('a table');
    onExec({ exitCode: 0 }, 1_000);
    onExec({ exitCode: 2 }, 500);
    onExec(undefined, 0);
    expect(linesOf(metrics)).toEqual([
      'agentiso_workspaces{phase="Ready",driver="sandbox"} 2',
      'agentiso_workspaces{phase="Failed",driver="vm"} 1',
      'agentiso_teams{phase="Ready"} 1',
      'agentiso_teams{phase="Creating"} 1',
      'agentiso_tasks{phase="Running"} 1',
      'agentiso_nft_drift_total 1',
      'agentiso_exec_total{result="ok"} 1',
      'agentiso_exec_total{result="failed"} 1',
      'agentiso_exec_total{result="lost"} 1',
      'agentiso_exec_duration_seconds_sum 1.5',
      'agentiso_exec_duration_seconds_count 3',
    ]);
  });
});

describe('transitions', () => {
  it('count each end of a merge once, and none that was there before', () => {
    const metrics = new Metrics();
    const transitions = new Transitions(metrics);
    const times = { startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:02Z' };
    transitions.known(merge('old', 'Merged', times));
    for (const each of [merge('old', 'Merged', times), merge('a', 'Merging'), merge('a', 'Merged', times), merge('a', 'Merged', times)])
      transitions.seen(each);
    transitions.seen(merge('b', 'Conflicted'));
    expect(linesOf(metrics)).toEqual([
      'agentiso_merges_total{phase="Merged"} 1',
      'agentiso_merges_total{phase="Conflicted"} 1',
      'agentiso_merge_duration_seconds_sum 2',
      'agentiso_merge_duration_seconds_count 1',
    ]);
  });

  it('tell how long a workspace took to start, at every start, and forget what is gone', () => {
    const metrics = new Metrics();
    let nowMs = 0;
    const transitions = new Transitions(metrics, () => nowMs);
    const pass = (ms: number, phase: string) => {
      nowMs += ms;
      transitions.seen(agent('a', phase));
    };
    pass(0, 'Pending');
    pass(1_000, 'Starting');
    pass(2_000, 'Ready');
    pass(9_000, 'Working');
    pass(0, 'Starting');
    pass(500, 'Ready');
    pass(0, 'Starting');
    transitions.gone(agent('a', 'Starting'));
    pass(5_000, 'Ready');
    expect(linesOf(metrics)).toEqual([
      'agentiso_boot_duration_seconds_sum{driver="sandbox"} 3.5',
      'agentiso_boot_duration_seconds_count{driver="sandbox"} 2',
    ]);
  });
});
