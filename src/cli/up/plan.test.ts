import { describe, expect, it } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { plannedTasks, planText } from './plan.ts';

const task = (name: string, dependsOn?: string[]) =>
  ({
    kind: 'Task',
    metadata: { name, namespace: 'default' },
    spec: { team: 'a', ...(dependsOn && { dependsOn }) },
  }) as unknown as KindObject;
const team = (...tasks: object[]) =>
  ({ kind: 'Team', metadata: { name: 'a', namespace: 'default' }, spec: { roles: [], tasks } }) as unknown as KindObject;
const namesIn = (...objects: KindObject[]) => plannedTasks(objects).map(({ name }) => name);

describe('the order of a plan', () => {
  it('is that of the files, but for those who wait for others, named in full or without the team', () => {
    const objects = [task('a-last', ['middle', 'a-first']), task('a-middle', ['a-first']), task('a-first'), task('a-other')];
    expect(namesIn(...objects)).toEqual(['a-first', 'a-other', 'a-middle', 'a-last']);
  });

  it('has the tasks of teams, and those that never start at its end', () => {
    const objects = [task('a-x', ['y']), task('a-y', ['x']), team({ name: 'b', dependsOn: ['c'] }, { name: 'c' })];
    expect(namesIn(...objects)).toEqual(['a-c', 'a-b', 'a-x', 'a-y']);
    expect(planText(objects)).toBe(
      'team/a would be applied\ntask/a-c would run\ntask/a-b would run after c\ntask/a-x would run after y\ntask/a-y would run after x\n',
    );
  });

  it('does not wait for what is in no file', () => {
    expect(namesIn(task('a-one', ['elsewhere']))).toEqual(['a-one']);
  });
});
