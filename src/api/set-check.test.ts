import { describe, expect, it } from 'vitest';
import { newAgent, newTask, newTeam } from '../../test/support/controllers.ts';
import { admission } from './kinds.ts';
import type { KindObject } from './meta.ts';
import { setProblems } from './set-check.ts';
import { objectsAmong } from './with-set.ts';

const admitted = (draft: unknown) => admission.admit(draft as KindObject, undefined);
const check = (drafts: readonly unknown[], existing: readonly unknown[] = [], knows: 'everything' | 'teams' | 'nothing' = 'everything') =>
  setProblems(
    drafts.map((draft) => ({ object: admitted(draft) })),
    { existing: objectsAmong(existing.map(admitted)), knows },
  ).map(({ index, path, message }) => `${index} ${path}: ${message}`);

const team = (name: string, spec: object = {}) => newTeam(name, { ...spec });
const task = (name: string, ...dependsOn: string[]) => newTask(name, { dependsOn });

describe('a set of documents', () => {
  it('is right in any order, as long as all of it is there', () => {
    const set = [
      task('a-last', 'first', 'a-second'),
      newTask('a-second', { dependsOn: ['first'], assignTo: 'worker' }),
      newAgent('byhand'),
      newTask('a-first', { assignTo: 'byhand' }),
      team('leaf', { parent: 'a', budget: { maxAgents: 2 } }),
      team('a'),
    ];
    expect(check(set)).toEqual([]);
    expect(check([...set].reverse())).toEqual([]);
  });

  it('is refused with a circle, named once, also one that goes through what exists', () => {
    expect(check([task('a-x', 'y'), task('a-y', 'z'), task('a-z', 'x')])).toEqual([
      '0 spec.dependsOn[0]: Invalid value: "y": tasks that wait for each other never start: x -> y -> z -> x; remove one of these dependencies (DependencyCycle)',
    ]);
    expect(check([task('a-new', 'old')], [task('a-old', 'older'), task('a-older', 'new')])).toEqual([
      expect.stringContaining(
        '0 spec.dependsOn[0]: Invalid value: "old": tasks that wait for each other never start: new -> old -> older -> new',
      ),
    ]);
    expect(check([task('a-new', 'p')], [task('a-p', 'q'), task('a-q', 'p')])).toEqual([]);
  });

  it('is refused with a dependency, a parent, a team or an assignee that nobody has', () => {
    const set = [
      team('a', { roles: [{ name: 'dev' }] }),
      newTask('a-t', { dependsOn: ['frist'], assignTo: 'qa' }),
      task('a-first'),
      team('sub', { parent: 'nobody' }),
      newAgent('one', { team: 'none' }),
    ];
    expect(check(set)).toEqual([
      '1 spec.assignTo: Not found: "qa": team a has no agent or role of that name; its roles are dev (AssigneeNotFound)',
      '1 spec.dependsOn[0]: Not found: "frist": team a has no task of that name; did you mean "first"? (DependencyNotFound)',
      '3 spec.parent: Not found: "nobody": there is no team of that name in namespace default; create it first, or leave parent out (ParentNotFound)',
      '4 spec.team: Not found: "none": there is no team of that name in namespace default; create it first (TeamNotFound)',
    ]);
    // Where nobody knows what exists, a team of the set is still known as a whole.
    expect(check(set, [], 'teams')).toEqual([expect.stringMatching(/^1 spec.assignTo/), expect.stringMatching(/^1 spec.dependsOn/)]);
    expect(check([task('a-t', 'gone')], [], 'teams')).toEqual([]);
    expect(check(set, [], 'nothing')).toEqual([expect.stringMatching(/^1 spec.assignTo/)]);
  });

  it('is refused with two of one short name, more than the parent has, and a level too many', () => {
    expect(check([task('design'), task('a-design')])).toEqual([
      expect.stringMatching(/^0 metadata.name: Duplicate value: "design": Task a-design is called "design"/),
      expect.stringMatching(/^1 metadata.name: Duplicate value: "a-design": Task design is called "design"/),
    ]);
    expect(check([team('sub', { parent: 'a' }), team('a')])).toEqual([
      expect.stringContaining('0 spec.budget.maxAgents: Forbidden: team a has no room for the 10 agents of sub'),
    ]);
    expect(check([team('sub', { parent: 'a', network: { allowInternet: true }, budget: { maxAgents: 1 } }), team('a')])).toEqual([
      expect.stringContaining('0 spec.network.allowInternet: Invalid value: true: a sub-team cannot have more than its parent'),
    ]);
    const chain = ['b', 'c', 'd', 'e'].map((name, index) => team(name, { parent: 'abcde'[index], budget: { maxAgents: 8 - index * 2 } }));
    expect(check([...chain.reverse(), team('a')])).toEqual([expect.stringContaining('0 spec.parent: Forbidden: it would be at level 4')]);
  });

  it('counts two sub-teams of one set together', () => {
    const set = [
      team('a', { budget: { maxAgents: 10 } }),
      ...['x', 'y'].map((name) => team(name, { parent: 'a', budget: { maxAgents: 6 } })),
    ];
    expect(check(set)).toEqual([
      expect.stringContaining('team a has no room for the 6 agents of x'),
      expect.stringContaining('6 agents of y'),
    ]);
  });

  it('of ten thousand tasks is looked at in one go', () => {
    const set = Array.from({ length: 10_000 }, (_, index) => ({
      ...newTask(`a-t${index}`, index === 0 ? {} : { dependsOn: [`t${index - 1}`] }),
    })) as unknown as KindObject[];
    expect(
      setProblems(
        set.map((object) => ({ object })),
        { existing: objectsAmong([]), knows: 'everything' },
      ),
    ).toEqual([]);
  });
});
