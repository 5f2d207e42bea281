import { describe, expect, it } from 'vitest';
import { parseManifest } from './manifest.ts';

const read = (text: string) => parseManifest(text).documents.map(({ value }) => value);
const HEAD = 'apiVersion: agentiso.dev/v1alpha1\n';

describe('priorities in manifests', () => {
  it.each([
    ['critical', 1],
    ['high', 2],
    ['medium', 3],
    ['low', 4],
    ['5', 5],
    ['urgent', 'urgent'],
    ['"2"', '2'],
  ])('may be %s', (word, number) => {
    expect(read(`${HEAD}kind: Task\nspec: {priority: ${word}}`)).toMatchObject([{ spec: { priority: number } }]);
  });

  it('are understood in the list of a team and in lists, and nowhere else', () => {
    const team = `${HEAD}kind: Team\nspec: {tasks: [{name: a, priority: high}, {name: b}, odd], roles: [{name: high}]}`;
    expect(read(team)).toMatchObject([{ spec: { tasks: [{ priority: 2 }, { name: 'b' }, 'odd'], roles: [{ name: 'high' }] } }]);
    const task = '{apiVersion: agentiso.dev/v1alpha1, kind: Task, spec: {priority: low, title: high}}';
    expect(read(`kind: List\nitems: [${task}, 7]`)).toMatchObject([{ items: [{ spec: { priority: 4, title: 'high' } }, 7] }]);
    expect(read('apiVersion: v1\nkind: Task\nspec: {priority: high}')).toMatchObject([{ spec: { priority: 'high' } }]);
  });
});
