import { expect, it } from 'vitest';
import { conditionOf } from '../../test/support/controllers.ts';
import { running } from './agent.fixture.ts';

it('says while it has as many processes as it may, once by an event, and that it has room again', async () => {
  const { driver, id, look, agent, ctx } = await running();
  expect(conditionOf(agent(), 'ProcessLimit')).toBeUndefined();
  driver.crowd(id, { limit: 512, isOwn: true });
  await look();
  await look();
  const message = 'its workspace has reached its limit of 512 processes and threads (pids.max); more are refused until some end';
  expect(conditionOf(agent(), 'ProcessLimit')).toBe(`True WorkspaceFull: ${message}`);
  expect(ctx.recorded.filter(({ reason }) => reason === 'ProcessLimit')).toMatchObject([{ message }]);
  driver.crowd(id, { limit: 90, isOwn: false });
  await look();
  expect(conditionOf(agent(), 'ProcessLimit')).toMatch(/^True DaemonFull: the daemon's control group has reached its limit of 90 /);
  driver.crowd(id, undefined);
  await look();
  expect(conditionOf(agent(), 'ProcessLimit')).toMatch(/^False HasRoom/);
});
