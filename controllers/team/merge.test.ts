import { beforeEach, describe, expect, it } from 'vitest';
import type { Merge, Task } from '#api/types.ts';
import { type Bench, bench, conditionOf, newTask, newTeam } from '../../test/support/controllers.ts';
import { teamController } from './controller.ts';

let here: Bench;
const look = () => here.reconcile(teamController({ client: here.client }), 'Team', 'a');
const merges = () => here.store.list('Merge').items as Merge[];

beforeEach(async () => {
  here = bench();
  const roles = [{ name: 'dev', count: 2 }, { name: 'docs' }];
  const tasks = [
    { name: 'x', command: 'true' },
    { name: 'y', command: 'true' },
  ];
  await here.client.create(newTeam('a', { roles, tasks, merge: { strategy: 'cherry-pick', into: 'next' } }));
  await look();
});

async function end(name: string, status: Task['status']): Promise<void> {
  const task = here.get<Task>('Task', `a-${name}`) as Task;
  await here.client.updateStatus<Task>({ ...task, status: status ?? {} });
  await look();
}

describe('the merge of a team', () => {
  it('comes when all tasks are done, once, with all agents', async () => {
    await end('x', { phase: 'Succeeded' });
    expect(merges()).toEqual([]);
    await end('y', { phase: 'Failed', reason: 'Cancelled' });
    expect(merges()).toMatchObject([
      {
        metadata: { name: 'a-merge', ownerReferences: [{ kind: 'Team', name: 'a', controller: true }] },
        spec: {
          team: 'a',
          sources: [{ agent: 'dev-1' }, { agent: 'dev-2' }, { agent: 'docs' }],
          target: { branch: 'next' },
          strategy: 'cherry-pick',
        },
      },
    ]);
    const version = merges()[0]?.metadata.resourceVersion;
    await look();
    expect(merges().map(({ metadata }) => metadata.resourceVersion)).toEqual([version]);
    expect(here.get<never>('Team' as never, 'a')).toMatchObject({ status: { phase: 'Completing' } });
  });

  it('waits for tasks that have failed, and for those of others', async () => {
    await here.client.create<Task>(newTask('a-z', { team: 'a' }));
    await end('x', { phase: 'Succeeded' });
    await end('y', { phase: 'Failed', reason: 'CommandFailed' });
    expect(merges()).toEqual([]);
    await end('y', { phase: 'Succeeded' });
    expect(merges()).toEqual([]);
    await end('z', { phase: 'Succeeded' });
    expect(merges()).toHaveLength(1);
  });

  it('takes nobody else’s name', async () => {
    const spec = { team: 'a', sources: [{ agent: 'docs' }], target: { branch: 'main' } };
    await here.client.create({
      apiVersion: 'agentiso.dev/v1alpha1',
      kind: 'Merge',
      metadata: { name: 'a-merge', namespace: 'default' },
      spec,
    } as never);
    await end('x', { phase: 'Succeeded' });
    await end('y', { phase: 'Succeeded' });
    expect(conditionOf(here.get('Team' as never, 'a'), 'Ready')).toContain('NameTaken: Merge a-merge exists');
  });
});
