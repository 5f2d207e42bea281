import { expect, it } from 'vitest';
import { toWireError } from '#protocol/protocol-error.ts';
import { createRates } from './create-rates.ts';
import type { USUAL_RATES } from './rates.ts';

function limited() {
  let now = 5_000;
  const rates = createRates({ nowMs: () => now });
  const refusal = (principal: string, category: keyof typeof USUAL_RATES) => {
    try {
      rates.charge(principal, category);
    } catch (error) {
      return toWireError(error);
    }
    return undefined;
  };
  /** How many pass now. */
  const passing = (principal: string, category: keyof typeof USUAL_RATES) => {
    let count = 0;
    while (count < 1_000 && refusal(principal, category) === undefined) count += 1;
    return count;
  };
  return {
    rates,
    refusal,
    passing,
    wait: (ms: number) => {
      now += ms;
    },
  };
}

it.each([
  ['team_message', 50, 300, 200],
  ['create', 3, 5, 12_000],
  ['exec', 10, 60, 1_000],
  ['default', 20, 120, 500],
] as const)('lets %s pass %i at once, then %i per minute, and says when to come again', (category, burst, perMinute, retryAfterMs) => {
  const { passing, refusal, wait } = limited();
  expect(passing('ann', category)).toBe(burst);
  expect(refusal('ann', category)).toEqual({
    code: 'RateLimited',
    message: `Rate limit exceeded for ${category} operations. Maximum ${perMinute} calls per minute. Please wait and retry.`,
    hint: `wait ${retryAfterMs} ms and call again`,
    retryAfterMs,
  });
  wait(retryAfterMs - 1);
  expect(refusal('ann', category)).toMatchObject({ retryAfterMs: 1 });
  wait(1);
  expect(passing('ann', category)).toBe(1);
  wait(60_000);
  expect(passing('ann', category)).toBe(Math.min(burst, perMinute));
});

it('counts callers and categories by themselves', () => {
  const { passing } = limited();
  expect(passing('ann', 'team_message')).toBe(50);
  expect([passing('ann', 'default'), passing('bob', 'team_message'), passing('ann', 'team_message')]).toEqual([20, 50, 0]);
});

it('charges for what was made, also more than there was', () => {
  const { rates, passing, refusal, wait } = limited();
  rates.charge('ann', 'create');
  rates.chargeBeyond('ann', 'create', 5);
  expect(refusal('ann', 'create')).toMatchObject({ retryAfterMs: 48_000 });
  wait(48_000);
  expect(passing('ann', 'create')).toBe(1);
});

it('remembers nobody who was quiet for long enough, or is forgotten', () => {
  const { rates, passing, wait } = limited();
  for (let each = 0; each < 1_000; each += 1) rates.charge(`agent-${each}`, 'default');
  rates.chargeBeyond('maker', 'create', 30);
  wait(60_000);
  rates.charge('ann', 'exec');
  // The maker has not paid back.
  expect(rates.bucketCount).toBe(2);
  rates.forget('maker');
  expect([rates.bucketCount, passing('maker', 'create')]).toEqual([1, 3]);
});
