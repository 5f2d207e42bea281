import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readManifests } from './manifests.ts';

const TASK = 'apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: one\nspec:\n  team: a\n  command: "true"\n';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-manifests-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function files(name: string, contents: Readonly<Record<string, string>>): string {
  const home = join(folder, name);
  mkdirSync(home);
  for (const [file, text] of Object.entries(contents)) writeFileSync(join(home, file), text);
  return home;
}

const names = (paths: readonly string[]) => readManifests(paths).objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

describe('readManifests', () => {
  it('reads the YAML files of a folder in the order of their names, and no others', () => {
    const home = files('folder', {
      'b.yml': TASK.replace('one', 'two'),
      'a.yaml': `${TASK}---\n${TASK.replace('one', 'three')}`,
      'notes.txt': 'not yaml: [',
      'a.yaml.rejected': 'not yaml: [',
    });
    expect(names([home])).toEqual(['default/one', 'default/three', 'default/two']);
  });

  it('keeps a namespace and adds the default one', () => {
    const home = files('namespace', { 'a.yaml': TASK.replace('name: one', 'name: one\n  namespace: prod') });
    expect(names([join(home, 'a.yaml')])).toEqual(['prod/one']);
  });

  it('names file, line and column of every mistake in every file', () => {
    const home = files('mistakes', {
      'a.yaml': TASK.replace('team: a', 'team: a\n  priorty: 1').replace('command: "true"', 'command: 7'),
      'b.yaml': 'kind: Task\nkind: Task\n',
      'c.yaml': 'apiVersion: agentiso.dev/v1alpha1\nkind: Tsk\nmetadata: {name: x}\n',
      'd.yaml': TASK.replace('name: one', 'name: One'),
    });
    const { objects, problems } = readManifests([home]);
    expect(objects).toEqual([]);
    expect(problems.map((problem) => problem.slice(home.length + 1))).toEqual([
      'a.yaml:7:3: unknown field "spec.priorty"; did you mean "priority"?',
      'a.yaml:8:3: spec.command: Invalid value: "integer": spec.command in body must be of type string: "integer"',
      'b.yaml:2:1: duplicate key "kind"; keep one of them',
      'c.yaml:2:1: kind: unknown kind "Tsk"; did you mean Task?',
      expect.stringMatching(/^d\.yaml:4:3: metadata\.name: Invalid value: "One": a lowercase RFC 1123 label/),
    ]);
  });

  it('finds the same object in two places and names both', () => {
    const home = files('twice', { 'a.yaml': TASK, 'b.yaml': `${TASK.replace('one', 'two')}---\n${TASK}` });
    expect(readManifests([home]).problems).toEqual([
      `${join(home, 'b.yaml')}:12:3: Task default/one is already defined at ${join(home, 'a.yaml')}:4; keep one of them`,
    ]);
  });

  it.each([
    { kind: 'Event', apiVersion: 'v1' },
    { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1' },
  ])('refuses $kind, which only agentiso itself writes', ({ kind, apiVersion }) => {
    const home = files(kind, { 'a.yaml': `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x}\n` });
    expect(readManifests([home]).problems).toEqual([
      `${join(home, 'a.yaml')}:2:1: kind: unknown kind "${kind}"; expected one of Team, Agent, Task, Merge`,
    ]);
  });

  it.each([
    { name: 'an empty folder', contents: {} },
    { name: 'a file of comments', contents: { 'a.yaml': '# nothing\n' } },
  ])('complains about $name', ({ name, contents }) => {
    const home = files(name.replaceAll(' ', '-'), contents);
    expect(readManifests([home])).toEqual({
      objects: [],
      problems: [`${home}: no resources found; expected YAML documents with kind and metadata`],
    });
  });

  it('says what to give when there is no such file', () => {
    const path = join(folder, 'absent.yaml');
    expect(() => readManifests([path])).toThrow(
      expect.objectContaining({
        code: 'NotFound',
        message: `${path}: no such file or folder`,
        hint: 'give a YAML file, a folder of them, or - for standard input',
      }),
    );
  });
});
