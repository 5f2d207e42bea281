import { describe, expect, it } from 'vitest';
import { toAmounts, toUsd, toWritten } from './amounts.ts';
import { shareOf } from './task-share.ts';
import { ledgerOf, toSpending, withClaim, withoutClaim } from './team-spending.ts';
import type { Task, Team } from './types.ts';

describe('money', () => {
  it.each([
    ['0', 0],
    ['2.5', 2_500_000],
    ['2.50', 2_500_000],
    ['0.000001', 1],
    ['99999999.999999', 99_999_999_999_999],
  ])('%s is %i millionths', (usd, micros) => {
    expect(toAmounts({ usd })).toEqual({ usd: micros });
    expect(Number(toUsd(micros))).toBe(Number(usd));
  });

  it('is written without a minus', () => {
    expect(toWritten({ usd: -5, tokens: -3 })).toEqual({ usd: '0', tokens: 0 });
  });
});

const team = (budget: object, spending: object = {}) => ({ spec: { budget }, status: { spending } }) as unknown as Team;
const NONE = { tokens: 0, usd: 0, seconds: 0 };

describe('a ledger', () => {
  it('says what is used, set aside and left, and gives back what was not used', () => {
    const before = ledgerOf(team({ tokens: 1_000, usd: '1' }));
    const claim = { uid: 'u', task: 't', reserved: { tokens: 300, usd: 500_000 }, before: { ...NONE, tokens: 50 } };
    const claimed = withClaim(before, claim);
    expect(toSpending(claimed)).toMatchObject({
      used: { tokens: 0, usd: '0', seconds: 0 },
      reserved: { tokens: 300, usd: '0.5' },
      remaining: { tokens: 700, usd: '0.5' },
    });
    const settled = withoutClaim(claimed, 'u', { tokens: 170, usd: 10, seconds: 5 });
    expect(toSpending(settled)).toEqual({
      used: { tokens: 120, usd: '0.00001', seconds: 5 },
      reserved: { tokens: 0, usd: '0', seconds: 0 },
      remaining: { tokens: 880, usd: '0.99999' },
    });
    expect(withoutClaim(settled, 'u', NONE)).toBe(settled);
  });

  it('is read as it was written', () => {
    const claim = { uid: 'u', task: 't', reserved: { tokens: 300 }, before: NONE };
    const ledger = withClaim(ledgerOf(team({ tokens: 1_000 })), claim);
    expect(ledgerOf(team({ tokens: 1_000 }, toSpending(ledger)))).toEqual(ledger);
  });

  it('is absent where there is no limit', () => {
    expect(toSpending(ledgerOf(team({ maxAgents: 3 })))).toBeUndefined();
  });
});

describe('a share', () => {
  const task = (budget?: object, timeoutSeconds = 60) => ({ metadata: { uid: 'u' }, spec: { budget, timeoutSeconds } }) as unknown as Task;
  const of = (budget: object, spending?: object) => ({ ...ledgerOf(team(budget, spending)), whose: 'team a' });
  const fresh = { used: NONE, before: NONE };

  it.each([
    ['its own budget', task({ tokens: 700 }), [of({ tokens: 1_000 })], { cap: { tokens: 700 } }],
    ['a tenth of the smallest limit', task(), [of({ tokens: 1_000 }), of({ tokens: 5_000 })], { cap: { tokens: 100 } }],
    ['what is left, if that is less', task(), [of({ tokens: 1_000 }, { used: { tokens: 995 } })], { cap: { tokens: 5 } }],
    ['of time, what an attempt may take', task(undefined, 60), [of({ seconds: 600 })], { cap: { seconds: 60 } }],
    ['its own budget where nobody else has a limit', task({ seconds: 9 }), [], { cap: { seconds: 9 } }],
    ['nothing where there is no limit', task(), [of({})], { cap: {} }],
  ])('is %s', (_, given, ledgers, share) => {
    expect(shareOf(given, ledgers, fresh)).toEqual(share);
  });

  it('goes on from what was used in this claim', () => {
    const ledger = of(
      { tokens: 1_000 },
      { used: { tokens: 200 }, claims: [{ uid: 'u', task: 't', reserved: { tokens: 100 }, before: { tokens: 40 } }] },
    );
    // 100 in this claim: 1000 - 200 - 100 are left.
    expect(shareOf(task(), [ledger], { used: { ...NONE, tokens: 140 }, before: { ...NONE, tokens: 40 } })).toEqual({
      cap: { tokens: 240 },
    });
  });

  it.each([
    [
      task({ tokens: 700 }),
      [of({ tokens: 600 })],
      'the budget.tokens of team a is 600 tokens: 600 tokens are left, and it needs 700 tokens',
    ],
    [task(), [of({ usd: '2' }, { used: { usd: '2.5' } })], 'the budget.usd of team a is $2: nothing is left'],
  ])('says who is short', (given, ledgers, short) => {
    expect(shareOf(given, ledgers, fresh)).toEqual({ short });
  });

  it('is nothing for a Task that has used its own budget up', () => {
    const used = { ...NONE, tokens: 12 };
    expect(shareOf(task({ tokens: 10 }), [], { used, before: used })).toEqual({
      short: 'it has used 12 tokens, and its budget.tokens is 10 tokens',
    });
  });
});
