import { describe, expect, it } from 'vitest';
import type { Agent, Merge, Task } from '#api/types.ts';
import { agentConcern, busyConcern, mergeConcern, taskConcern } from './concerns.ts';

const TEAM = [{ kind: 'Team', namespace: 'n', name: 't' }];
const READY = { type: 'Ready', status: 'True', reason: 'Running', message: '', lastTransitionTime: '2026-01-02T03:04:05Z' };
const OWNER = { apiVersion: 'v', kind: 'Team', name: 't', uid: 'u', controller: true };

function agent(metadata: object = {}, status: object = {}): Agent {
  return {
    kind: 'Agent',
    metadata: { namespace: 'n', name: 't-a', generation: 1, ...metadata },
    spec: { team: 't' },
    status: { phase: 'Ready', observedGeneration: 1, conditions: [READY], ...status },
  } as unknown as Agent;
}

function task(metadata: object = {}, status: object = {}): Task {
  return {
    kind: 'Task',
    metadata: { namespace: 'n', name: 't-x', generation: 1, ...metadata },
    spec: { team: 't' },
    status: { phase: 'Running', owner: 't-a', ...status },
  } as unknown as Task;
}

describe('a team looks soon at an agent', () => {
  it.each<[string, Agent]>([
    ['a mark', agent({ annotations: { 'agentiso.dev/draining': 'x' } })],
    ['another owner', agent({ ownerReferences: [OWNER] })],
    ['its end', agent({ deletionTimestamp: 'x' })],
    ['not ready', agent({}, { conditions: [{ ...READY, status: 'False', reason: 'Exited' }] })],
    ['another reason', agent({}, { conditions: [{ ...READY, message: 'why' }] })],
    ['another run', agent({}, { incarnation: '2' })],
    ['an address', agent({}, { ip: '10.0.0.1' })],
  ])('%s', (_what, changed) => {
    expect(agentConcern(changed, 'MODIFIED', agent())).toEqual(TEAM);
  });

  it('that comes or goes', () => {
    expect(agentConcern(agent(), 'ADDED', undefined)).toEqual(TEAM);
    expect(agentConcern(agent(), 'DELETED', agent())).toEqual(TEAM);
  });
});

it('a team looks later at what an agent does and is asked for, and not at all at signs of life', () => {
  const behind = agent({ generation: 2 });
  const changes: [Agent, Agent][] = [
    [agent(), agent({}, { phase: 'Working' })],
    [agent(), agent({}, { messagesPending: 3 })],
    [agent(), agent({}, { mailbox: { unacked: 1 } })],
    [agent(), behind],
    [behind, agent({ generation: 2 }, { observedGeneration: 2 })],
  ];
  for (const [before, changed] of changes) {
    expect(agentConcern(changed, 'MODIFIED', before)).toEqual([]);
    expect(busyConcern(changed, 'MODIFIED', before)).toEqual(TEAM);
  }
  const alive = agent({ resourceVersion: '7' }, { lastHeartbeat: 'x', progress: { text: 'p', time: 'x' } });
  expect([agentConcern(alive, 'MODIFIED', agent()), busyConcern(alive, 'MODIFIED', agent())]).toEqual([[], []]);
});

describe('a team looks at a task', () => {
  it.each<[string, Task, Task]>([
    ['another phase', task({}, { phase: 'Succeeded' }), task()],
    ['another owner', task({}, { owner: 't-b' }), task()],
    ['its end', task({ deletionTimestamp: 'x' }), task()],
    ['cancelled', task({}, { phase: 'Failed', reason: 'Cancelled' }), task({}, { phase: 'Failed', reason: 'MaxAttempts' })],
    ['one of its list that somebody changed', task({ ownerReferences: [OWNER], generation: 2 }), task({ ownerReferences: [OWNER] })],
  ])('%s', (_what, changed, before) => {
    expect(taskConcern(changed, 'MODIFIED', before)).toEqual(TEAM);
  });

  it('that comes or goes', () => {
    expect([taskConcern(task(), 'ADDED', undefined), taskConcern(task(), 'DELETED', task())]).toEqual([TEAM, TEAM]);
  });

  it('but not at what it says of its work, nor at what others ask of theirs', () => {
    expect(taskConcern(task({}, { progress: { text: 'half', time: 'x' }, observedGeneration: 2 }), 'MODIFIED', task())).toEqual([]);
    expect(taskConcern(task({ generation: 2 }), 'MODIFIED', task())).toEqual([]);
    expect(taskConcern(task(), 'SYNC', task())).toEqual([]);
  });
});

describe('a team looks at a merge', () => {
  const merge = (phase: string, metadata: object = {}, team = 't') =>
    ({ kind: 'Merge', metadata: { namespace: 'n', name: 't-m', ...metadata }, spec: { team }, status: { phase } }) as unknown as Merge;

  it.each<[string, Merge]>([
    ['that has ended', merge('Merged')],
    ['that is another one’s now', merge('Merging', { ownerReferences: [OWNER] })],
    ['that is to end', merge('Merging', { deletionTimestamp: 'x' })],
  ])('%s', (_what, changed) => {
    expect(mergeConcern(changed, 'MODIFIED', merge('Merging'))).toEqual(TEAM);
  });

  it('that comes, goes, or joins it', () => {
    expect(mergeConcern(merge('Pending'), 'ADDED', undefined)).toEqual(TEAM);
    expect(mergeConcern(merge('Merged'), 'DELETED', merge('Merged'))).toEqual(TEAM);
    expect(mergeConcern(merge('Merged'), 'MODIFIED', merge('Merged', {}, 'other'))).toEqual(TEAM);
  });

  it('and not at how far it is', () => {
    expect(mergeConcern(merge('Merging', { resourceVersion: '7', generation: 2 }), 'MODIFIED', merge('Queued'))).toEqual([]);
  });
});
