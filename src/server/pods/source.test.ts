import { beforeEach, describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import type { Store } from '#store/store.ts';
import { memoryStore } from '../../../test/support/memory-store.ts';
import type { Source } from '../source.ts';
import { podSource } from './source.ts';

let store: Store;
let pods: Source;

const spec = { team: 'crew', image: 'base', restartPolicy: 'Always', resources: { vcpus: 1, memoryMiB: 64, diskGiB: 1 } };

beforeEach(() => {
  store = memoryStore({ kinds: ['Agent'] });
  pods = podSource(store, 'here');
});

async function add(name: string, phase: string, labels: Record<string, string> = {}): Promise<KindObject> {
  const draft = { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Agent', metadata: { name, namespace: 'default', labels }, spec };
  return setPhase(await store.create(draft as never), phase);
}

const setPhase = (agent: KindObject, phase: string) =>
  store.update({ ...agent, status: { phase } } as KindObject, { subresource: 'status' });

const names = (query: object) => pods.list(query).items.map(({ metadata }) => metadata.name);

describe('pods as they are read', () => {
  it('are selected by what they are as pods', async () => {
    await add('a', 'Ready', { app: 'x' });
    await add('b', 'Failed');
    expect(names({})).toEqual(['a', 'b']);
    expect(names({ labelSelector: 'agentiso.dev/agent=a' })).toEqual(['a']);
    expect(names({ labelSelector: 'agentiso.dev/team=crew,app!=x' })).toEqual(['b']);
    expect(names({ fieldSelector: 'status.phase=Running,spec.nodeName=here' })).toEqual(['a']);
    expect(names({ fieldSelector: 'metadata.name=b' })).toEqual(['b']);
    expect(names({ namespace: 'other', fieldSelector: 'status.phase=Running' })).toEqual([]);
    expect(() => names({ fieldSelector: 'spec.team=crew' })).toThrow('field label not supported: spec.team');
  });

  it('are one object for one version of an agent', async () => {
    await add('a', 'Ready');
    expect(pods.get('default', 'a')).toBe(pods.list({ labelSelector: 'agentiso.dev/agent=a' }).items[0]);
  });

  it('come and go with what is selected, from any version on', async () => {
    const first = await add('a', 'Ready');
    const from = pods.resourceVersion();
    const failed = await setPhase(first, 'Failed');
    const events: string[] = [];
    const stop = pods.watch({ fieldSelector: 'status.phase=Running', resourceVersion: String(from) }, ({ type, object }) =>
      events.push(`${type} ${object.kind} ${object.metadata.name}`),
    );
    await add('b', 'Pending');
    const again = await setPhase(failed, 'Working');
    await setPhase(again, 'Ready');
    await store.delete({ kind: 'Agent', namespace: 'default', name: 'a' });
    stop();
    expect(events).toEqual(['DELETED Pod a', 'ADDED Pod a', 'MODIFIED Pod a', 'DELETED Pod a']);
    expect(pods.listAt(from, { fieldSelector: 'status.phase=Running' }).map(({ metadata }) => metadata.name)).toEqual(['a']);
  });
});
