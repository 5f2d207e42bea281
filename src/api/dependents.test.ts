import { expect, it } from 'vitest';
import { newTask } from '../../test/support/controllers.ts';
import { Dependents } from './dependents.ts';
import type { Task } from './types.ts';

const task = (name: string, spec: Parameters<typeof newTask>[1] = {}) => newTask(name, spec) as Task;

it('knows who is waited for, by short and full name, until nobody waits any more', () => {
  const dependents = new Dependents();
  const [b, c] = [task('a-b'), task('a-c')];
  dependents.put(task('a-x', { dependsOn: ['b'] }));
  dependents.put(task('a-y', { dependsOn: ['a-b', 'c'] }));
  expect([b, c, task('a-d')].map((each) => dependents.has(each))).toEqual([true, true, false]);
  expect(dependents.has(task('b', { team: 'other' }))).toBe(false);
  dependents.put(task('a-y', { dependsOn: ['c'] }));
  expect(dependents.has(b)).toBe(true);
  dependents.remove(task('a-x'));
  expect([b, c].map((each) => dependents.has(each))).toEqual([false, true]);
  dependents.remove(task('a-unknown'));
  dependents.put(task('a-y'));
  expect(dependents.has(c)).toBe(false);
});
