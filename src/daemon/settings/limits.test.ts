import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '#api/limits.ts';
import { USUAL_RATES } from '#relay/rates.ts';
import { limitsOf, ratesOf } from './limits.ts';

const slow = { burst: 1, perMinute: 2 };

it('leaves a fifth of the memory to the machine, unless it is told otherwise', () => {
  const bytes = 10 * 1024 ** 3;
  expect(limitsOf({}, bytes)).toEqual({ ...DEFAULT_LIMITS, maxAgents: 100, maxAgentsPerTeam: 20, maxMemoryMiB: 8192 });
  expect(limitsOf({ maxAgents: 1_000, maxMemoryMiB: 99, rates: { exec: slow } }, bytes)).toEqual({
    ...DEFAULT_LIMITS,
    maxAgents: 1_000,
    maxAgentsPerTeam: 20,
    maxMemoryMiB: 99,
  });
});

it('changes the rates that it is told to, and no others', () => {
  expect(ratesOf({})).toEqual(USUAL_RATES);
  expect(ratesOf({ rates: { exec: slow } })).toEqual({ ...USUAL_RATES, exec: slow });
});
