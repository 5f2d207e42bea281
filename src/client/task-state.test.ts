import { describe, expect, it } from 'vitest';
import type { ApiObject } from '#client/resource-api.ts';
import { listPatch } from './change-task.ts';
import { endedProblem, retryProblem, taskState } from './task-state.ts';

const task = (status: object, spec: object = {}) =>
  ({ apiVersion: 'v', kind: 'Task', metadata: { name: 'a-x' }, spec, status }) as ApiObject;

describe('retryProblem', () => {
  it.each([
    [{ phase: 'Failed', reason: 'MaxAttempts' }, undefined],
    [{ phase: 'Blocked', reason: 'PlanTimeout' }, undefined],
    [{ phase: 'Succeeded' }, 'it has Succeeded; to run it anew, delete and apply it'],
    [{ phase: 'Blocked', reason: 'DependencyFailed' }, 'it waits for a task that has Failed; retry that one'],
    [{ phase: 'Running' }, 'it is Running; only a task that has Failed can be tried again'],
    [{}, 'it is Pending; only a task that has Failed can be tried again'],
  ])('%j', (status, want) => {
    expect(retryProblem(taskState(task(status)))).toBe(want);
  });
});

describe('endedProblem', () => {
  it.each([
    ['Running', undefined],
    ['Failed', 'it has already ended: Failed'],
    ['Succeeded', 'it has already ended: Succeeded'],
  ])('%s', (phase, want) => {
    expect(endedProblem(taskState(task({ phase })))).toBe(want);
  });
});

describe('taskState', () => {
  it('counts on from whichever number is higher, so that the next one is news', () => {
    expect(taskState(task({ retries: 3 }, { retry: 2 })).retry).toBe(3);
    expect(taskState(task({}, { retry: 2 })).retry).toBe(2);
    expect(taskState(task({})).retry).toBe(0);
  });
});

describe('listPatch', () => {
  it('holds only while the entry is where it was', () => {
    expect(listPatch({ team: 'a', name: 'x', index: 2 }, { retry: 1, cancelled: false })).toEqual([
      { op: 'test', path: '/spec/tasks/2/name', value: 'x' },
      { op: 'add', path: '/spec/tasks/2/retry', value: 1 },
      { op: 'add', path: '/spec/tasks/2/cancelled', value: false },
    ]);
  });
});
