/** What goes with its owner, and with its namespace: objects of every kind that clients can make, events apart. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ApiClient } from '../support/api-client.ts';
import { type Daemon, startDaemon, temporaryFolder } from '../support/daemon.ts';

const WAIT = { timeout: 20_000, interval: 50 };
const OURS = 'agentiso.dev/v1alpha1';

interface Made {
  readonly group: string;
  readonly plural: string;
  readonly spec?: object;
}

const MADE: readonly Made[] = [
  { group: '/api/v1', plural: 'configmaps' },
  { group: '/apis/coordination.k8s.io/v1', plural: 'leases', spec: {} },
  { group: `/apis/${OURS}`, plural: 'tasks', spec: { team: 'none', command: 'true' } },
  { group: `/apis/${OURS}`, plural: 'merges', spec: { team: 'none', sources: [{ agent: 'a' }], target: { branch: 'main' } } },
];

describe('objects', () => {
  const { folder, remove } = temporaryFolder();
  let daemon: Daemon;
  let api: ApiClient;
  beforeAll(async () => {
    daemon = await startDaemon(join(folder, 'home'));
    api = daemon.api;
  });
  afterAll(async () => {
    await daemon.stop();
    remove();
  });

  const pathOf = ({ group, plural }: Made, namespace: string) => `${group}/namespaces/${namespace}/${plural}`;

  async function make(path: string, body: object): Promise<{ metadata: { uid: string } }> {
    const answer = await api.call('POST', path, { body });
    expect(answer.status, answer.text).toBe(201);
    return answer.json() as { metadata: { uid: string } };
  }

  const codeOf = async (path: string) => (await api.call('GET', path)).status;

  it.each(MADE.map((made) => [made.plural, made] as const))('%s go with their owner', async (_plural, made) => {
    const owners = '/api/v1/namespaces/default/configmaps';
    const name = `owner-of-${made.plural}`;
    const { uid } = (await make(owners, { metadata: { name } })).metadata;
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }];
    await make(pathOf(made, 'default'), { ...withType(made), metadata: { name: 'owned', ownerReferences } });
    await api.call('DELETE', `${owners}/${name}`);
    await vi.waitFor(async () => expect(await codeOf(`${pathOf(made, 'default')}/owned`)).toBe(404), WAIT);
  });

  it('go with their namespace, all of them', async () => {
    await make('/api/v1/namespaces', { metadata: { name: 'left' } });
    for (const made of MADE) await make(pathOf(made, 'left'), { ...withType(made), metadata: { name: 'inside' } });
    await api.call('DELETE', '/api/v1/namespaces/left');
    await vi.waitFor(async () => expect(await codeOf('/api/v1/namespaces/left')).toBe(404), WAIT);
    expect(await Promise.all(MADE.map((made) => codeOf(`${pathOf(made, 'left')}/inside`)))).toEqual(MADE.map(() => 404));
  });

  it('that are held say so on their namespace, in the words of Kubernetes', async () => {
    await make('/api/v1/namespaces', { metadata: { name: 'held' } });
    const path = '/api/v1/namespaces/held/configmaps';
    await make(path, { metadata: { name: 'a', finalizers: ['example.com/hold'] } });
    await make(path, { metadata: { name: 'free' } });
    await api.call('DELETE', '/api/v1/namespaces/held');
    await vi.waitFor(async () => {
      const { status } = (await api.call('GET', '/api/v1/namespaces/held')).json() as { status: { conditions?: object[] } };
      expect(status.conditions).toEqual(
        expect.arrayContaining([
          {
            type: 'NamespaceContentRemaining',
            status: 'True',
            reason: 'SomeResourcesRemain',
            message: 'Some resources are remaining: configmaps. has 1 resource instances',
            lastTransitionTime: expect.any(String),
          },
          {
            type: 'NamespaceFinalizersRemaining',
            status: 'True',
            reason: 'SomeFinalizersRemain',
            message: 'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
            lastTransitionTime: expect.any(String),
          },
        ]),
      );
    }, WAIT);
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    await api.call('PATCH', `${path}/a`, { headers, body: { metadata: { finalizers: null } } });
    await vi.waitFor(async () => expect(await codeOf('/api/v1/namespaces/held')).toBe(404), WAIT);
  });
});

/** Ours want to be told what they are. */
function withType({ group, plural, spec }: Made): object {
  const kind = { tasks: 'Task', merges: 'Merge' }[plural];
  return { ...(spec && { spec }), ...(kind && group.endsWith(OURS) && { apiVersion: OURS, kind }) };
}
