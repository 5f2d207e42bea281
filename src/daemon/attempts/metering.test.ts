import { expect, it } from 'vitest';
import type { Task } from '#api/types.ts';
import { Metrics } from '#lib/metrics.ts';
import { Meter } from '#providers/meter.ts';
import { bench, newAgent, newTask } from '../../../test/support/controllers.ts';
import { meteringOf, presentTask } from './metering.ts';

const USAGE = { model: 'm', input: 10, cacheRead: 0, cacheWrite: 0, output: 5 };

it.each([
  [
    'the one that runs',
    [
      ['a', 'Running', 1],
      ['b', 'Claimed', 2],
    ],
    'a',
  ],
  [
    'the one that began last',
    [
      ['a', 'Running', 1],
      ['b', 'Running', 2],
    ],
    'b',
  ],
  [
    'one with a prompt before one without',
    [
      ['p', 'Running', 1, 'ask'],
      ['b', 'Running', 2],
    ],
    'p',
  ],
  [
    'one that is claimed where none runs: its command may be quicker than the news of it',
    [
      ['a', 'Succeeded', 2],
      ['b', 'Claimed', 1],
    ],
    'b',
  ],
  ['none', [['a', 'Succeeded', 1]], undefined],
] as const)('a request is for %s', (_, tasks, name) => {
  const objects = tasks.map(([id, phase, second, prompt]) => ({
    metadata: { name: id },
    spec: prompt === undefined ? {} : { prompt },
    status: { phase, startedAt: `2026-01-02T03:04:0${second}Z` },
  }));
  expect(presentTask(objects as unknown as Task[])?.metadata.name).toBe(name);
});

it('goes on from what the Task had used, wakes it, and counts money only where there is a price', async () => {
  const { store, client } = bench();
  const agent = await client.create(newAgent('a-dev'));
  const task = await client.create(newTask('a-one'));
  const status = { phase: 'Running', owner: 'a-dev', startedAt: '2026-01-02T03:04:05Z', budget: { used: { tokens: 100, usd: '1' } } };
  await client.updateStatus<Task>({ ...task, status } as Task);
  const metrics = new Metrics();
  const meter = new Meter({ prices: () => new Map([['m', { input: 1, output: 2 }]]), metrics });
  const woken: string[] = [];
  meter.wake(({ name }) => woken.push(name));
  const { taskOf, onUsage } = meteringOf(store, meter);
  const uid = taskOf(agent);
  expect(uid).toBe(task.metadata.uid);
  onUsage('p', USAGE, uid);
  onUsage('p', { ...USAGE, model: 'unknown' }, uid);
  onUsage('p', USAGE, undefined);
  expect(meter.total(uid ?? '')).toEqual({ tokens: 130, microUsd: 1_000_020, unpricedTokens: 15 });
  expect(woken).toEqual(['a-one', 'a-one']);
  expect(metrics.render()).toContain('agentiso_provider_tokens_total{provider="p",kind="output"} 15');
});
