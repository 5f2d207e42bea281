import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Draft } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import { newTask, newTeam } from '../../../test/support/controllers.ts';
import { openWorkBench, type WorkBench } from './work-bench.fixture.ts';
import { planWorkflow } from './workflow-plan.ts';
import { writeWorkflow } from './workflow-write.ts';

let here: WorkBench;
beforeEach(async () => {
  here = await openWorkBench();
  await here.client.create(newTeam('a', { roles: [{ name: 'coder' }] }));
});
afterEach(() => here.end());

it('takes back what it has written when something is refused after all', async () => {
  const step = (name: string, ...needs: string[]) => ({ name, agent: 'coder', command: 'true', depends_on: needs });
  const steps = planWorkflow({
    namespace: 'default',
    team: 'a',
    name: 'flow',
    steps: [step('x'), step('y', 'x'), step('free'), step('z', 'y')],
  });
  const written: string[] = [];
  // Somebody else writes a task of that name after the API was asked what it would say.
  const create = async (draft: Draft<Task>) => {
    if (draft.metadata.name === 'a-flow-x') await here.client.create<Task>(newTask('a-flow-x', { team: 'a', title: 'of another' }));
    const task = await here.toolCall.client.create<Task>(draft);
    written.push(task.metadata.name);
    return task;
  };
  const call = { ...here.toolCall, client: { ...here.toolCall.client, create: create as never } };
  await expect(writeWorkflow(call, steps)).rejects.toMatchObject({ code: 'AlreadyExists' });
  expect(written).toEqual(['a-flow-z', 'a-flow-y', 'a-flow-free']);
  const left = (await here.client.list<Task>('Task')).items.map(({ metadata, spec }) => [metadata.name, spec.title]);
  expect(left).toEqual([['a-flow-x', 'of another']]);
});
