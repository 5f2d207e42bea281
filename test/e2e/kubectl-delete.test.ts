/** kubectl delete: what goes with an object, what stays, and what has to be waited for. */
import { expect, vi } from 'vitest';
import { type Place, taskYaml, withEveryKubectl } from '../support/kubectl-api.ts';

const WAIT = { timeout: 20_000, interval: 50 };

/** A task that owns two configmaps, one of which holds its deletion up. */
async function withDependents({ ok, file }: Place): Promise<void> {
  await ok(['create', '-f', '-'], { input: taskYaml('owner') });
  const uid = await ok(['get', 'task', 'owner', '-o', 'jsonpath={.metadata.uid}']);
  const owner = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Task', name: 'owner', uid };
  const maps = ['held', 'free'].map((name) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      ownerReferences: [{ ...owner, blockOwnerDeletion: name === 'held' }],
      ...(name === 'held' ? { finalizers: ['example.com/hold'] } : {}),
    },
  }));
  await ok(['create', '-f', file('maps.json', JSON.stringify({ apiVersion: 'v1', kind: 'List', items: maps }))]);
}

const release = ({ ok }: Place, kind: string, name: string) =>
  ok(['patch', kind, name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);

withEveryKubectl('kubectl delete', (test) => {
  test('deletes by name, file, label and all, and says what was not there', async ({ ok, fails, run, namespace, file }) => {
    const input = ['a', 'b', 'c', 'd', 'e'].map((name) => taskYaml(name, 'title: x', `  labels: {name: ${name}}\n`)).join('---\n');
    await ok(['create', '-f', '-'], { input });
    expect(await ok(['delete', 'task', 'a'])).toBe(`task.agentiso.dev "a" deleted from ${namespace} namespace\n`);
    expect(await ok(['delete', '-f', file('b.yaml', taskYaml('b')), '-o', 'name'])).toBe('task.agentiso.dev/b\n');
    expect(await ok(['delete', 'tasks', '-l', 'name in (c)', '--dry-run=server'])).toContain('(server dry run)');
    expect(await ok(['delete', 'tasks', '-l', 'name in (c)'])).toContain('"c" deleted');
    expect(await fails(['delete', 'task', 'a'])).toContain('tasks.agentiso.dev "a" not found');
    expect(await run(['delete', 'task', 'a', '--ignore-not-found'])).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await ok(['delete', 'tasks', '--all', '--now'])).toMatch(/"d" deleted.*\n.*"e" deleted/);
    expect(await ok(['get', 'tasks', '-o', 'name'])).toBe('');
    expect(JSON.parse(await ok(['delete', '--raw', `/apis/agentiso.dev/v1alpha1/namespaces/${namespace}/tasks`]))).toMatchObject({
      kind: 'TaskList',
      items: [],
    });
  });

  test('waits until finalizers are gone, unless told not to', async (place) => {
    const { ok, start, fails } = place;
    const held = taskYaml('a', 'title: x', '  finalizers: [example.com/hold]\n');
    await ok(['create', '-f', '-'], { input: held });
    expect(await ok(['delete', 'task', 'a', '--wait=false'])).toContain('"a" deleted');
    expect(await ok(['get', 'task', 'a', '-o', 'jsonpath={.metadata.deletionTimestamp}'])).toMatch(/^\d{4}-/);
    expect(await fails(['delete', 'task', 'a', '--timeout=1s'])).toContain('timed out waiting for the condition');
    const deletion = start(['delete', 'task', 'a']);
    await deletion.said('deleted');
    expect(deletion.child.exitCode).toBeNull();
    expect(
      await fails(['patch', 'task', 'a', '--type=merge', '-p', '{"metadata":{"finalizers":["example.com/hold","example.com/more"]}}']),
    ).toContain('finalizers');
    await release(place, 'task', 'a');
    expect((await deletion.result).code).toBe(0);
    expect(await fails(['get', 'task', 'a'])).toContain('NotFound');
  });

  test('in the background deletes the owner at once and its dependents later', async (place) => {
    const { ok, fails } = place;
    await withDependents(place);
    await ok(['delete', 'task', 'owner', '--cascade=background']);
    expect(await fails(['get', 'task', 'owner'])).toContain('NotFound');
    await vi.waitFor(async () => expect(await ok(['get', 'cm', '-o', 'name'])).toBe('configmap/held\n'), WAIT);
    expect(await ok(['get', 'cm', 'held', '-o', 'jsonpath={.metadata.deletionTimestamp}'])).toMatch(/^\d/);
    await release(place, 'cm', 'held');
    await ok(['wait', '--for=delete', 'cm/held', '--timeout=20s']);
  });

  test('in the foreground keeps the owner until its dependents are gone', async (place) => {
    const { ok, start } = place;
    await withDependents(place);
    const deletion = start(['delete', 'task', 'owner', '--cascade=foreground']);
    await vi.waitFor(async () => expect(await ok(['get', 'cm', '-o', 'name'])).toBe('configmap/held\n'), WAIT);
    expect(await ok(['get', 'task', 'owner', '-o', 'jsonpath={.metadata.finalizers}'])).toBe('["foregroundDeletion"]');
    expect(deletion.child.exitCode).toBeNull();
    await release(place, 'cm', 'held');
    expect((await deletion.result).code).toBe(0);
    expect(await ok(['get', 'cm,tasks', '-o', 'name'])).toBe('');
  });

  test('as an orphan leaves the dependents, without their owner', async (place) => {
    const { ok, fails } = place;
    await withDependents(place);
    await ok(['delete', 'task', 'owner', '--cascade=orphan']);
    expect(await fails(['get', 'task', 'owner'])).toContain('NotFound');
    expect(await ok(['get', 'cm', '-o', 'jsonpath={.items[*].metadata.ownerReferences}'])).toBe('');
    expect(await ok(['get', 'cm', '-o', 'name'])).toBe('configmap/free\nconfigmap/held\n');
    await release(place, 'cm', 'held');
  });

  test('takes a team with its agents and tasks', async (place) => {
    const { ok, file } = place;
    const team = {
      apiVersion: 'agentiso.dev/v1alpha1',
      kind: 'Team',
      metadata: { name: 'crew' },
      spec: { roles: [{ name: 'worker' }], tasks: [{ name: 'one', command: 'true' }] },
    };
    await ok(['apply', '-f', file('team.json', JSON.stringify(team))]);
    await ok(['wait', '--for=condition=Ready', 'team/crew', '--timeout=60s']);
    await ok(['wait', '--for=jsonpath={.status.phase}=Succeeded', 'task/crew-one', '--timeout=60s']);
    expect(await ok(['get', 'all', '-o', 'name'])).toBe(
      'agent.agentiso.dev/crew-worker\ntask.agentiso.dev/crew-one\nteam.agentiso.dev/crew\n',
    );
    await ok(['delete', 'team', 'crew', '--cascade=foreground', '--timeout=60s']);
    expect(await ok(['get', 'all', '-o', 'name'])).toBe('');
  });
});
