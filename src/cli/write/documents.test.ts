import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type CheckOptions, checkDocuments, schemaProblems } from '#client/write/check-documents.ts';
import { readDocuments } from './documents.ts';

const folder = mkdtempSync(join(tmpdir(), 'agentiso-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const team = (name: string, more = '') =>
  `apiVersion: agentiso.dev/v1alpha1\nkind: Team\nmetadata:\n  name: ${name}\n${more}spec:\n  roles: [{name: worker}]\n`;
const named = (documents: readonly { object: Record<string, unknown> }[]) =>
  documents.map(({ object }) => (object['metadata'] as { name: string }).name);

const options: CheckOptions = { namespace: 'default', isNamespaceEnforced: false, allowsGenerateName: false };

async function problemsOf(text: string, changed: Partial<CheckOptions> = {}): Promise<string[]> {
  const path = file('checked.yaml', text);
  const { documents, problems } = await readDocuments({ filenames: [path], isRecursive: false });
  const found = await checkDocuments(documents, { ...options, ...changed });
  const wrong = found.length > 0 ? found : await schemaProblems(documents, options.namespace);
  return [...problems, ...wrong].map((line) => line.replaceAll(path, 'F'));
}

describe('readDocuments', () => {
  it('reads files, the YAML and JSON of a folder, and with -R what is in its folders', async () => {
    file('tree/b.yml', team('b'));
    file('tree/a.yaml', `${team('a')}---\n---\n${team('a2')}`);
    file('tree/c.json', JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'c' } }));
    file('tree/notes.txt', 'not: [a manifest');
    file('tree/deep/er/d.yaml', team('d'));
    const names = async (isRecursive: boolean) =>
      named((await readDocuments({ filenames: [join(folder, 'tree')], isRecursive })).documents);
    expect(await names(false)).toEqual(['a', 'a2', 'b', 'c']);
    expect(await names(true)).toEqual(['a', 'a2', 'b', 'c', 'd']);
  });

  it('opens a List, and still knows the lines of its items', async () => {
    const path = file(
      'list.yaml',
      'apiVersion: v1\nkind: List\nitems:\n- kind: Team\n  metadata: {name: x}\n- kind: Team\n  metadata: {name: y}\n',
    );
    const { documents } = await readDocuments({ filenames: [path], isRecursive: false });
    expect(named(documents)).toEqual(['x', 'y']);
    expect(documents[1]?.at(['metadata', 'name'])).toBe(`${path}:7:14`);
  });

  it('says that nothing was given, and what cannot be read', async () => {
    expect((await readDocuments({ filenames: [file('empty.yaml', '# nothing\n')], isRecursive: false })).problems).toEqual([
      expect.stringMatching(/^no objects passed: nothing in /),
    ]);
    await expect(readDocuments({ filenames: ['/nowhere.yaml'], isRecursive: false })).rejects.toThrow(
      'the path "/nowhere.yaml" does not exist',
    );
  });
});

describe('checkDocuments', () => {
  it.each([
    { name: 'a good one', text: team('a'), want: [] },
    { name: 'kinds of others', text: 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n', want: [] },
    {
      name: 'a mistyped field',
      text: team('a').replace('roles', 'rolls'),
      want: ['F:5:1: spec.roles: Required value', 'F:6:3: unknown field "spec.rolls"; did you mean "roles"?'],
    },
    {
      name: 'an unknown kind of ours',
      text: team('a').replace('Team', 'Taem'),
      want: ['F:2:1: kind: unknown kind "Taem"; did you mean Team?'],
    },
    {
      name: 'no apiVersion',
      text: 'kind: Team\nmetadata: {name: a}\n',
      want: ['F:1:1: apiVersion: Required value; every document needs apiVersion, kind and metadata'],
    },
    { name: 'no name', text: 'apiVersion: v1\nkind: Namespace\n', want: ['F:1:1: metadata.name: Required value; name the resource'] },
    {
      name: 'a generated name',
      text: team('a').replace('name: a', 'generateName: a-'),
      want: ['F:4:3: from a-: cannot use generate name with apply'],
    },
    {
      name: 'the same object twice',
      text: `${team('a')}---\n${team('a')}`,
      want: ['F:11:3: Team default/a is already defined at F:4; keep one of them'],
    },
    { name: 'the same name in two namespaces', text: `${team('a')}---\n${team('a', '  namespace: b\n')}`, want: [] },
    { name: 'broken YAML', text: 'a: [b\n', want: [expect.stringMatching(/^F:\d+:\d+: /)] },
  ])('looks at $name', async ({ text, want }) => {
    expect(await problemsOf(text)).toEqual(want);
  });

  it('takes a generated name when it may, and checks the rest', async () => {
    const text = team('a').replace('name: a', 'generateName: a-');
    const good = await problemsOf(text, { allowsGenerateName: true });
    const bad = await problemsOf(text.replace('roles', 'rolls'), { allowsGenerateName: true });
    expect([good, bad.length > 0]).toEqual([[], true]);
  });

  it('refuses another namespace than the one that -n names, in kubectl’s words', async () => {
    const text = team('a', '  namespace: other\n');
    expect(await problemsOf(text, { isNamespaceEnforced: true })).toEqual([
      'F:5:3: the namespace from the provided object "other" does not match the namespace "default". You must pass \'--namespace=other\' to perform this operation.',
    ]);
    expect(await problemsOf(text)).toEqual([]);
  });
});
