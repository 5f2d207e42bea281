import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readManifests } from './manifests.ts';

const TASK = 'apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: one\nspec:\n  team: a\n  command: "true"\n';

const TASK_JSON = JSON.stringify({
  apiVersion: 'agentiso.dev/v1alpha1',
  kind: 'Task',
  metadata: { name: 'one' },
  spec: { team: 'a', command: 'true' },
});

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

const names = async (...filenames: readonly string[]) =>
  (await readManifests({ filenames })).objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

describe('readManifests', () => {
  it('reads the YAML files of a folder in the order of their names, and no others', async () => {
    const home = files('folder', {
      'b.yml': TASK.replace('one', 'two'),
      'a.yaml': `${TASK}---\n${TASK.replace('one', 'three')}`,
      'notes.txt': 'not yaml: [',
      'a.yaml.rejected': 'not yaml: [',
    });
    expect(await names(home)).toEqual(['default/one', 'default/three', 'default/two']);
  });

  it('keeps a namespace and adds the default one', async () => {
    const home = files('namespace', { 'a.yaml': TASK.replace('name: one', 'name: one\n  namespace: prod') });
    expect(await names(join(home, 'a.yaml'))).toEqual(['prod/one']);
  });

  it('names file, line and column of every mistake in every file', async () => {
    const home = files('mistakes', {
      'a.yaml': TASK.replace('team: a', 'team: a\n  priorty: 1').replace('command: "true"', 'command: 7'),
      'b.yaml': 'kind: Task\nkind: Task\n',
      'c.yaml': 'apiVersion: agentiso.dev/v1alpha1\nkind: Tsk\nmetadata: {name: x}\n',
      'd.yaml': TASK.replace('name: one', 'name: One'),
    });
    const { objects, problems } = await readManifests({ filenames: [home] });
    expect(objects).toEqual([]);
    expect(problems.map((problem) => problem.slice(home.length + 1))).toEqual([
      'b.yaml:2:1: duplicate key "kind"; keep one of them',
      'a.yaml:7:3: unknown field "spec.priorty"; did you mean "priority"?',
      'a.yaml:8:3: spec.command: Invalid value: "integer": spec.command in body must be of type string: "integer"',
      'c.yaml:2:1: kind: unknown kind "Tsk"; did you mean Task?',
      expect.stringMatching(/^d\.yaml:4:3: metadata\.name: Invalid value: "One": a lowercase RFC 1123 subdomain/),
    ]);
  });

  it('finds the same object in two places and names both', async () => {
    const home = files('twice', { 'a.yaml': TASK, 'b.yaml': `${TASK.replace('one', 'two')}---\n${TASK}` });
    expect((await readManifests({ filenames: [home] })).problems).toEqual([
      `${join(home, 'b.yaml')}:12:3: Task default/one is already defined at ${join(home, 'a.yaml')}:4; keep one of them`,
    ]);
  });

  it.each([
    { kind: 'Event', apiVersion: 'v1' },
    { kind: 'Lease', apiVersion: 'coordination.k8s.io/v1' },
  ])('refuses $kind, which only agentiso itself writes', async ({ kind, apiVersion }) => {
    const home = files(kind, { 'a.yaml': `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x}\n` });
    expect((await readManifests({ filenames: [home] })).problems).toEqual([
      `${join(home, 'a.yaml')}:2:1: kind: unknown kind "${kind}"; expected one of Team, Agent, Task, Merge, Snapshot`,
    ]);
  });

  it.each([
    { name: 'an empty folder', contents: {} },
    { name: 'a file of comments', contents: { 'a.yaml': '# nothing\n' } },
  ])('complains about $name', async ({ name, contents }) => {
    const home = files(name.replaceAll(' ', '-'), contents);
    expect(await readManifests({ filenames: [home] })).toEqual({
      objects: [],
      problems: [`${home}: no resources found; expected YAML documents with kind and metadata`],
    });
  });

  it('says what to give when there is no such file', async () => {
    const path = join(folder, 'absent.yaml');
    await expect(readManifests({ filenames: [path] })).rejects.toMatchObject({
      code: 'NotFound',
      message: `the path ${JSON.stringify(path)} does not exist`,
      hint: 'give a YAML or JSON file, a folder of them, or - for standard input',
    });
  });

  it('opens lists, reads JSON, and looks into folders when asked to', async () => {
    const home = files('deep', {
      'a.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [JSON.parse(TASK_JSON), { kind: 'Tsk' }] }),
    });
    mkdirSync(join(home, 'inner'));
    writeFileSync(join(home, 'inner', 'b.yaml'), TASK.replace('one', 'two'));
    const { objects, problems } = await readManifests({ filenames: [home], isRecursive: true });
    expect(objects.map(({ metadata }) => metadata.name)).toEqual(['one', 'two']);
    expect(problems).toEqual([expect.stringMatching(/a\.json:1:\d+: kind: unknown kind "Tsk"; did you mean Task\?$/)]);
    expect((await readManifests({ filenames: [home] })).objects).toHaveLength(1);
  });

  it('knows namespaces and config maps, and what belongs in them', async () => {
    const home = files('core', {
      'a.yaml':
        'apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: 1}\n',
    });
    const { objects, problems } = await readManifests({ filenames: [home] });
    expect(objects).toMatchObject([{ kind: 'Namespace', metadata: { name: 'prod', namespace: '' } }]);
    expect(problems).toEqual([expect.stringContaining('a.yaml:8:8: data.a: Invalid value')]);
  });
});
