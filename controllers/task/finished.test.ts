import { describe, expect, it } from 'vitest';
import type { Task } from '#api/types.ts';
import { TASK_FINALIZER } from './boards.ts';
import { isAtRest } from './finished.ts';

function task(spec: object = {}, status: object = {}, metadata: object = {}): Task {
  return {
    kind: 'Task',
    metadata: { name: 'a-x', namespace: 'n', generation: 3, finalizers: [TASK_FINALIZER], ...metadata },
    spec: { team: 'a', retry: 0, planRequired: false, ...spec },
    status: { phase: 'Succeeded', observedGeneration: 3, ...status },
  } as unknown as Task;
}

describe('a task is at rest', () => {
  it('when it is found finished, or was finished before and still is', () => {
    expect([isAtRest(task(), undefined), isAtRest(task(), task({}, { observedGeneration: 2 }))]).toEqual([true, true]);
    expect(isAtRest(task({ retry: 1 }, { phase: 'Failed', retries: 1 }), undefined)).toBe(true);
  });

  it.each<[string, Task]>([
    ['runs', task({}, { phase: 'Running' })],
    ['waits', task({}, { phase: 'Pending' })],
    ['nobody has seen what it asks for', task({}, { observedGeneration: 2 })],
    ['nobody holds on to it', task({}, {}, { finalizers: [] })],
    ['is to be tried again', task({ retry: 2 }, { phase: 'Failed', retries: 1 })],
    ['somebody asked for it', task({ request: { by: 'lead' } })],
    ['had a plan', task({ planRequired: true })],
    ['was verified', task({ verify: ['true'] })],
    ['goes when its time is over', task({ ttlSecondsAfterFinished: 60 })],
    ['seems to be stuck', task({}, { conditions: [{ type: 'Stuck', status: 'True', reason: '', message: '', lastTransitionTime: '' }] })],
  ])('but not one that %s', (_what, object) => {
    expect([isAtRest(object, undefined), isAtRest(object, task())]).toEqual([false, false]);
  });

  it('but not when it has just finished: what was reported of it is still to be accepted', () => {
    expect(isAtRest(task(), task({}, { phase: 'Running' }))).toBe(false);
  });
});
