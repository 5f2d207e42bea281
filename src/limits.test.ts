import { expect, it } from 'vitest';
import { limitsOf } from './limits.ts';

it('leaves a fifth of the memory to the machine, unless it is told otherwise', () => {
  const bytes = 10 * 1024 ** 3;
  expect(limitsOf({}, bytes)).toEqual({ maxAgents: 100, maxAgentsPerTeam: 20, maxMemoryMiB: 8192 });
  expect(limitsOf({ maxAgents: 1_000, maxMemoryMiB: 99 }, bytes)).toEqual({ maxAgents: 1_000, maxAgentsPerTeam: 20, maxMemoryMiB: 99 });
});
