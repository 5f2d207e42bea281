import { describe, expect, it } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import type { KindObject } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import { localClient } from '#client/local.ts';
import { newTask } from '../../../test/support/controllers.ts';
import { memoryStore } from '../../../test/support/memory-store.ts';
import { applyAll, finishedTasks } from './apply-all.ts';

function setUp() {
  const client = localClient(memoryStore({ kinds, admission }));
  const apply = async (...objects: readonly object[]) => {
    let said = '';
    const finished = await finishedTasks(client);
    await applyAll({
      client,
      finished,
      objects: objects as readonly KindObject[],
      err: (text) => {
        said += text;
      },
    });
    return said;
  };
  return { client, apply };
}

const KEY = { kind: 'Task', namespace: 'default', name: 'a-one' };

describe('applyAll', () => {
  it('says of each what became of it, and takes back what is no longer said', async () => {
    const { client, apply } = setUp();
    expect(await apply(newTask('a-one', { title: 'x' }), newTask('a-two'))).toBe('task/a-one created\ntask/a-two created\n');
    expect(await apply(newTask('a-one', { title: 'x' }))).toBe('task/a-one unchanged\n');
    expect(await apply(newTask('a-one'))).toBe('task/a-one configured\n');
    expect((await client.get<Task>(KEY)).spec.title).toBeUndefined();
  });

  it('takes what others have set, because the manifest is what a person wants now', async () => {
    const { client, apply } = setUp();
    await apply(newTask('a-one', { title: 'x' }));
    const task = await client.get<Task>(KEY);
    await client.update<Task>({ ...task, spec: { ...task.spec, title: 'theirs', description: 'theirs' } });
    expect(await apply(newTask('a-one', { title: 'mine' }))).toBe('task/a-one configured\n');
    expect((await client.get<Task>(KEY)).spec).toMatchObject({ title: 'mine', description: 'theirs' });
  });

  it('says that a task which has ended does not run again when it is changed', async () => {
    const { client, apply } = setUp();
    await apply(newTask('a-one'));
    await client.updateStatus<Task>({ ...(await client.get<Task>(KEY)), status: { phase: 'Succeeded' } });
    expect(await apply(newTask('a-one'))).toBe('task/a-one unchanged\n');
    expect(await apply(newTask('a-one', { title: 'x' }))).toContain('task/a-one has ended before and does not run again');
  });

  it('makes the namespaces that manifests only mention, once', async () => {
    const { client, apply } = setUp();
    const task = newTask('a-one');
    const inProd = { ...task, metadata: { ...task.metadata, namespace: 'prod' } };
    await apply(inProd);
    await apply(inProd, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'prod', namespace: '', labels: { a: 'b' } } });
    expect((await client.get({ kind: 'Namespace', namespace: '', name: 'prod' })).metadata.labels).toMatchObject({ a: 'b' });
  });
});
