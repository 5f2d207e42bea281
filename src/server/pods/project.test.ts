import { describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { podOf } from './project.ts';
import { podTable } from './table.ts';

const CREATED = '2026-01-01T00:00:00Z';

function agent(status: object, metadata: object = {}): KindObject {
  return {
    apiVersion: 'agentiso.dev/v1alpha1',
    kind: 'Agent',
    metadata: { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '7', creationTimestamp: CREATED, ...metadata },
    spec: { team: 'crew', image: 'base', restartPolicy: 'OnFailure', resources: { vcpus: 2, memoryMiB: 512, diskGiB: 10 } },
    status,
  } as unknown as KindObject;
}

const ready = (status: string, reason = 'Ready', message = '') => ({
  conditions: [{ type: 'Ready', status, reason, message, lastTransitionTime: CREATED }],
});

describe('an agent as a pod', () => {
  it.each([
    ['Pending', {}, 'Pending', '0/1', 'ContainerCreating'],
    ['Starting', {}, 'Pending', '0/1', 'ContainerCreating'],
    ['Ready', ready('True'), 'Running', '1/1', 'Running'],
    ['Working', ready('True'), 'Running', '1/1', 'Running'],
    ['Suspended', ready('False'), 'Running', '0/1', 'Suspended'],
    ['Stopping', ready('False'), 'Running', '0/1', 'Stopping'],
    ['Stopped', ready('False'), 'Succeeded', '0/1', 'Completed'],
    ['Failed', ready('False'), 'Failed', '0/1', 'Error'],
  ])('%s', (phase, more, expected, readiness, word) => {
    const pod = podOf(agent({ phase, ...more }), 'here');
    expect((pod.status as { phase: string }).phase).toBe(expected);
    expect(podTable.cellsOf(pod, new Date(CREATED)).slice(0, 5)).toEqual(['a', readiness, word, '0', '0s']);
  });

  it('has the agent’s identity, is owned by it, and is found by its labels', () => {
    const labels = { app: 'x', 'agentiso.dev/team': 'forged' };
    const annotations = { note: 'y', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    expect(podOf(agent({}, { labels, annotations, managedFields: [], finalizers: ['f'] }), 'here').metadata).toEqual({
      name: 'a',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: CREATED,
      labels: { app: 'x', 'agentiso.dev/agent': 'a', 'agentiso.dev/team': 'crew' },
      annotations: { note: 'y' },
      ownerReferences: [
        { apiVersion: 'agentiso.dev/v1alpha1', kind: 'Agent', name: 'a', uid: 'u', controller: true, blockOwnerDeletion: false },
      ],
    });
  });

  it('on its way out says how long that may take, because clients read it', () => {
    const pod = podOf(agent({ phase: 'Ready' }, { deletionTimestamp: CREATED }), 'here');
    expect(pod.metadata).toMatchObject({ deletionTimestamp: CREATED, deletionGracePeriodSeconds: 30 });
    expect(podTable.cellsOf(pod, new Date(CREATED))[2]).toBe('Terminating');
  });
});
