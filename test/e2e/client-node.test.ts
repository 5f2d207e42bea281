/** The official JavaScript client against a daemon: what programs written for Kubernetes do. */
import { join } from 'node:path';
import {
  type ApiException,
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
  Watch,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Daemon, startDaemon, temporaryFolder } from '../support/daemon.ts';

const WAIT = { timeout: 30_000, interval: 20 };
const API = { group: 'agentiso.dev', version: 'v1alpha1', namespace: 'default', plural: 'tasks' };
const apiVersion = 'agentiso.dev/v1alpha1';

interface Task extends KubernetesObject {
  metadata: NonNullable<KubernetesObject['metadata']>;
  spec: { team: string; command: string; title?: string; priority?: number };
}

const task = (name: string, title = 'first'): Task => ({
  apiVersion,
  kind: 'Task',
  metadata: { name, namespace: 'default' },
  spec: { team: 'nobody', command: 'true', title },
});

const { folder, remove } = temporaryFolder();
const home = join(folder, 'home');
let daemon: Daemon;
let config: KubeConfig;

beforeAll(async () => {
  daemon = await startDaemon(home);
  config = new KubeConfig();
  config.loadFromFile(daemon.kubeconfig);
});
afterAll(async () => {
  const { code, stderr } = await daemon.stop();
  remove();
  expect([code, stderr]).toEqual([0, '']);
});

/** The client's promises of custom objects are of any shape. */
const custom = () => config.makeApiClient(CustomObjectsApi);

async function codeOf(work: Promise<unknown>): Promise<number> {
  return work.then(
    () => 200,
    (error: ApiException<unknown>) => error.code,
  );
}

describe('CustomObjectsApi', () => {
  it('creates, reads, lists, replaces, patches and deletes', async () => {
    const api = custom();
    const created = (await api.createNamespacedCustomObject({ ...API, body: task('crud') })) as Task;
    expect(created.metadata).toMatchObject({ name: 'crud', generation: 1 });
    expect(await codeOf(api.createNamespacedCustomObject({ ...API, body: task('crud') }))).toBe(409);
    const read = (await api.getNamespacedCustomObject({ ...API, name: 'crud' })) as Task;
    const replaced = { ...read, spec: { ...read.spec, title: 'second' } };
    const second = (await api.replaceNamespacedCustomObject({ ...API, name: 'crud', body: replaced })) as Task;
    expect([second.spec.title, second.metadata.generation]).toEqual(['second', 2]);
    expect(await codeOf(api.replaceNamespacedCustomObject({ ...API, name: 'crud', body: replaced }))).toBe(409);
    const patch = [{ op: 'replace', path: '/spec/title', value: 'third' }];
    expect(((await api.patchNamespacedCustomObject({ ...API, name: 'crud', body: patch })) as Task).spec.title).toBe('third');
    const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
    const merged = (await api.patchNamespacedCustomObject({ ...API, name: 'crud', body: { spec: { title: 'fourth' } } }, merge)) as Task;
    expect(merged.spec.title).toBe('fourth');
    const listed = (await api.listNamespacedCustomObject({ ...API, fieldSelector: 'metadata.name=crud' })) as { items: Task[] };
    expect(listed.items.map(({ metadata }) => metadata.name)).toEqual(['crud']);
    expect(((await api.listClusterCustomObject({ ...API, limit: 1 })) as { items: Task[] }).items).toHaveLength(1);
    const status = { status: { phase: 'Failed' } };
    await api.patchNamespacedCustomObjectStatus({ ...API, name: 'crud', body: status }, merge);
    await api.deleteNamespacedCustomObject({ ...API, name: 'crud' });
    // Controllers may have to let go of it first.
    await vi.waitFor(async () => expect(await codeOf(api.getNamespacedCustomObject({ ...API, name: 'crud' }))).toBe(404), WAIT);
  });

  it('deletes a collection by label', async () => {
    const api = custom();
    for (const name of ['many-a', 'many-b', 'many-c']) {
      const body = task(name);
      if (name !== 'many-c') body.metadata.labels = { go: 'away' };
      await api.createNamespacedCustomObject({ ...API, body });
    }
    await api.deleteCollectionNamespacedCustomObject({ ...API, labelSelector: 'go=away' });
    await vi.waitFor(async () => {
      const { items } = (await api.listNamespacedCustomObject({ ...API })) as { items: Task[] };
      expect(items.map(({ metadata }) => metadata.name).filter((name) => name?.startsWith('many-'))).toEqual(['many-c']);
    }, WAIT);
    await api.deleteNamespacedCustomObject({ ...API, name: 'many-c' });
  });

  it('says what is wrong in an error with code and body', async () => {
    const bad = { ...task('bad'), spec: { team: 'nobody', command: 'true', priority: 'high' } };
    const error = await custom()
      .createNamespacedCustomObject({ ...API, body: bad })
      .catch((refused: ApiException<string>) => refused);
    expect(error).toMatchObject({ code: 422 });
    expect(JSON.parse((error as ApiException<string>).body)).toMatchObject({ kind: 'Status', reason: 'Invalid', details: { name: 'bad' } });
  });
});

describe('KubernetesObjectApi', () => {
  it('applies on the server, and is refused what another owns', async () => {
    const api = KubernetesObjectApi.makeApiClient(config);
    const apply = (title: string, manager: string, force = false) =>
      api.patch(task('applied', title), undefined, undefined, manager, force, PatchStrategy.ServerSideApply) as Promise<Task>;
    expect((await apply('ours', 'ours')).spec.title).toBe('ours');
    expect(await codeOf(apply('theirs', 'theirs'))).toBe(409);
    expect((await apply('theirs', 'theirs', true)).spec.title).toBe('theirs');
    const read = (await api.read({ apiVersion, kind: 'Task', metadata: { name: 'applied', namespace: 'default' } })) as Task;
    expect(read.metadata.managedFields?.map(({ manager, operation }) => `${manager}:${operation}`)).toEqual(
      expect.arrayContaining(['ours:Apply', 'theirs:Apply']),
    );
    // Its default is a strategic patch, which custom kinds do not have, here as in any cluster.
    expect(await codeOf(api.patch(task('applied', 'x')))).toBe(415);
    expect((await api.list(apiVersion, 'Task', 'default')).items.map(({ metadata }) => metadata?.name)).toContain('applied');
    await api.delete(task('applied'));
    const applied = { apiVersion, kind: 'Task', metadata: { name: 'applied', namespace: 'default' } };
    await vi.waitFor(async () => expect(await codeOf(api.read(applied))).toBe(404), WAIT);
  });
});

describe('CoreV1Api', () => {
  it('has namespaces, configmaps and events', async () => {
    const api = config.makeApiClient(CoreV1Api);
    await api.createNamespace({ body: { metadata: { name: 'from-node' } } });
    expect((await api.listNamespace()).items.map(({ metadata }) => metadata?.name)).toEqual(
      expect.arrayContaining(['default', 'from-node']),
    );
    const place = { namespace: 'from-node' };
    await api.createNamespacedConfigMap({ ...place, body: { metadata: { name: 'm' }, data: { a: '1' } } });
    const patched = await api.patchNamespacedConfigMap(
      { ...place, name: 'm', body: { data: { b: '2' } } },
      setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
    );
    expect(patched.data).toEqual({ a: '1', b: '2' });
    expect((await api.readNamespacedConfigMap({ ...place, name: 'm' })).metadata?.creationTimestamp).toBeInstanceOf(Date);
    const involvedObject = { apiVersion: 'v1', kind: 'ConfigMap', name: 'm', namespace: 'from-node', uid: patched.metadata?.uid ?? '' };
    const event = {
      metadata: { name: 'm.1' },
      involvedObject,
      reason: 'Noticed',
      message: 'by node',
      type: 'Normal',
      lastTimestamp: new Date(),
    };
    await api.createNamespacedEvent({ ...place, body: event });
    const { items } = await api.listNamespacedEvent({ ...place, fieldSelector: 'involvedObject.name=m' });
    expect(items.map(({ reason, message }) => [reason, message])).toEqual([['Noticed', 'by node']]);
    await api.deleteNamespace({ name: 'from-node' });
    await vi.waitFor(async () => expect(await codeOf(api.readNamespace({ name: 'from-node' }))).toBe(404), WAIT);
  });
});

describe('Watch', () => {
  it('sees an object come, change and go, and ends when it is told to', async () => {
    const api = custom();
    const seen: string[] = [];
    let ended: unknown = 'not yet';
    const path = `/apis/agentiso.dev/v1alpha1/namespaces/default/tasks`;
    const abort = await new Watch(config).watch(
      path,
      { fieldSelector: 'metadata.name=watched' },
      (type, object: Task) => {
        if (seen.at(-1) !== `${type} ${object.spec.title}`) seen.push(`${type} ${object.spec.title}`);
      },
      (error) => {
        ended = error;
      },
    );
    await api.createNamespacedCustomObject({ ...API, body: task('watched') });
    const patch = [{ op: 'replace', path: '/spec/title', value: 'second' }];
    await api.patchNamespacedCustomObject({ ...API, name: 'watched', body: patch });
    await api.deleteNamespacedCustomObject({ ...API, name: 'watched' });
    await vi.waitFor(() => expect(seen.at(-1)).toBe('DELETED second'), WAIT);
    expect(seen.filter((line) => line !== 'MODIFIED first')).toEqual(['ADDED first', 'MODIFIED second', 'DELETED second']);
    abort.abort();
    await vi.waitFor(() => expect(ended).not.toBe('not yet'), WAIT);
  });
});

describe('an informer', () => {
  it('keeps the right picture over restarts, crashes, and versions that nobody remembers', async () => {
    const api = custom();
    const list = async () => (await api.listNamespacedCustomObject({ ...API })) as never;
    const informer = makeInformer<Task>(config, '/apis/agentiso.dev/v1alpha1/namespaces/default/tasks', list);
    let errors = 0;
    informer.on('error', () => {
      errors++;
      setTimeout(() => void informer.start().catch(() => {}), 100);
    });
    await vi.waitFor(async () => expect(((await api.listNamespacedCustomObject({ ...API })) as { items: Task[] }).items).toEqual([]), WAIT);
    await informer.start();
    const titles = () => Object.fromEntries(informer.list().map(({ metadata, spec }) => [metadata.name, spec.title]));
    const sees = (expected: Record<string, string>) => vi.waitFor(() => expect(titles()).toEqual(expected), WAIT);
    await api.createNamespacedCustomObject({ ...API, body: task('one') });
    await api.createNamespacedCustomObject({ ...API, body: task('two') });
    await sees({ one: 'first', two: 'first' });
    for (const end of ['stop', 'kill'] as const) {
      await daemon[end]();
      daemon = await startDaemon(home);
      const title = `after ${end}`;
      // What happens before the informer is back must reach it too.
      await api.patchNamespacedCustomObject({ ...API, name: 'one', body: [{ op: 'replace', path: '/spec/title', value: title }] });
      await sees({ one: title, two: 'first' });
    }
    await api.deleteNamespacedCustomObject({ ...API, name: 'two' });
    await sees({ one: 'after kill' });
    expect(errors).toBeLessThan(200);
    await informer.stop();
    await api.deleteNamespacedCustomObject({ ...API, name: 'one' });
  });
});
