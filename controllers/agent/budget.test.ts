import { expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { conditionOf } from '../../test/support/controllers.ts';
import { running } from './agent.fixture.ts';

it('says that its budget is used up, once, and that it is not any more', async () => {
  const { agent, look, client, ctx } = await running({}, { budget: { tokens: 100 } });
  expect(conditionOf(agent(), 'BudgetExhausted')).toBeUndefined();
  const now = agent() as Agent;
  const claims = [{ uid: 'u', task: 'a-one', reserved: { tokens: 30 }, before: { tokens: 0 } }];
  await client.updateStatus<Agent>({ ...now, status: { ...now.status, spending: { used: { tokens: 70 }, claims } } });
  await look();
  await look();
  const said = 'budget.tokens is 100 tokens: 70 tokens are used, 30 tokens set aside for a-one';
  expect(conditionOf(agent(), 'BudgetExhausted')).toContain(`True NothingLeft: ${said}`);
  expect(ctx.recorded.filter(({ reason }) => reason === 'BudgetExhausted')).toHaveLength(1);
  await client.update<Agent>({ ...(agent() as Agent), spec: { ...now.spec, budget: { tokens: 101 } } });
  await look();
  expect(conditionOf(agent(), 'BudgetExhausted')).toMatch(/^False HasRoom/);
  expect(agent()?.status?.spending?.used).toEqual({ tokens: 70 });
});
