import { expect, it } from 'vitest';
import type { Agent } from '#api/types.ts';
import { StalledError } from '#lib/errors.ts';
import { conditionOf, newAgent } from '../../test/support/controllers.ts';
import { running, setUp } from './agent.fixture.ts';
import type { AgentDeps, Rescue } from './deps.ts';

const REF = 'refs/agentiso/rescue/x';
const SAVED_AT = '2026-01-02T03:04:05.000Z';

async function deleting(rescue: () => Promise<Rescue>) {
  const world = await running();
  let asked = 0;
  const count: AgentDeps['rescue'] = () => {
    asked += 1;
    return rescue();
  };
  const controller = world.newController({ rescue: count });
  await world.client.delete({ kind: 'Agent', namespace: 'default', name: 'one' });
  const isRemoved = () => !world.driver.workspaces.has(world.id);
  return { ...world, look: () => world.look(controller), asked: () => asked, isRemoved };
}

it('writes down where the work is before anything goes, and asks once', async () => {
  const { look, agent, asked, isRemoved } = await deleting(async () => ({ ref: REF, message: 'kept' }));
  await look();
  expect([agent()?.status?.rescued, conditionOf(agent(), 'Rescued'), isRemoved()]).toEqual([REF, 'True Kept: kept', false]);
  for (let pass = 0; pass < 4 && agent(); pass++) await look();
  expect([agent(), asked(), isRemoved()]).toEqual([undefined, 1, true]);
});

it('goes in the same pass when there was nothing to keep', async () => {
  const { look, agent, driver } = await deleting(async () => ({ message: 'nothing' }));
  await look();
  expect(driver.calls.some((call) => call.startsWith('delete'))).toBe(true);
  expect(agent()?.status?.rescued).toBeUndefined();
});

it('removes nothing while it cannot be kept, says so once, and goes on when it can', async () => {
  let problem: string | undefined = 'disk full';
  const world = await deleting(async () => {
    if (problem !== undefined) throw new Error(problem);
    return { ref: REF, message: 'kept' };
  });
  expect(await world.look()).toEqual({ requeueAfterMs: 5_000 });
  await world.look();
  expect(conditionOf(world.agent(), 'Rescued')).toMatch(/^False RescueFailed: .*disk full.*agentiso\.dev\/discard-work/);
  expect(world.isRemoved()).toBe(false);
  problem = undefined;
  for (let pass = 0; pass < 5 && world.agent(); pass++) await world.look();
  expect([world.agent(), world.isRemoved()]).toEqual([undefined, true]);
});

it('looks again by itself at a repository that cannot be read', async () => {
  const world = setUp();
  let isThere = false;
  const controller = world.newController({
    async placeOf() {
      if (!isThere) throw new StalledError('NotARepository', 'spec.repo cannot be read');
      return { team: 1, egress: false, base: '/base', git: { forkBase: 'abc', branch: 'agents/a/one' } };
    },
    workOf: () => ({ head: 'new', savedAt: SAVED_AT }),
  });
  await world.client.create<Agent>(newAgent('one'));
  await world.setNetwork('True');
  expect(await world.look(controller)).toEqual({ requeueAfterMs: 5_000 });
  expect(conditionOf(world.agent(), 'WorkspaceReady')).toBe('False NotARepository: spec.repo cannot be read');
  isThere = true;
  await world.look(controller);
  expect(world.agent()?.status?.git).toEqual({ forkBase: 'abc', branch: 'agents/a/one', head: 'new', savedAt: SAVED_AT });
});
