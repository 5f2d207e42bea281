/** Hand edits that cannot be taken: nothing in the running system changes, the text is kept, line and reason are reported. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../support/cli.ts';
import { auditFiles } from '../support/store-audit.ts';
import { type OpenStore, onHome, reported, saveByRename, specOf, taskDraft, taskText, until, withStore } from '../support/store-home.ts';

interface BadEdit {
  readonly name: string;
  /** The bytes a person saved in place of the good text. */
  readonly edit: (good: string) => string | Buffer;
  readonly reason: string;
  /** Parts of the message. */
  readonly says: readonly (string | RegExp)[];
}

const LINE = /line \d+/;
const aliasBomb = () => {
  const levels = Array.from({ length: 9 }, (_, i) => `  l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`);
  return `apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata: {name: a}\nbomb:\n  l0: &l0 [x]\n${levels.join('\n')}\n`;
};

const BAD_EDITS: readonly BadEdit[] = [
  { name: 'a YAML error', edit: (text) => text.replace('title: good', 'title: "good'), reason: 'InvalidYaml', says: [LINE] },
  {
    name: 'an unknown field',
    edit: (text) => text.replace('title: good', 'titel: good'),
    reason: 'InvalidEdit',
    says: [LINE, 'unknown field "spec.titel"', 'did you mean "title"?'],
  },
  {
    name: 'a value the schema does not allow',
    edit: (text) => text.replace('priority: 3', 'priority: 9'),
    reason: 'InvalidEdit',
    says: [LINE, 'spec.priority'],
  },
  {
    name: 'a failed CEL rule',
    edit: (text) => text.replace('command: "true"', 'command: "true"\n  prompt: and this'),
    reason: 'InvalidEdit',
    says: [LINE, 'set exactly one of command'],
  },
  {
    name: 'a changed field that cannot change',
    edit: (text) => text.replace('team: crew', 'team: other'),
    reason: 'InvalidEdit',
    says: [LINE, 'team cannot change'],
  },
  {
    name: 'a changed uid',
    edit: (text) => text.replace(/uid: .*/, 'uid: 00000000-0000-4000-8000-000000000000'),
    reason: 'InvalidEdit',
    says: [LINE, 'metadata.uid cannot change'],
  },
  {
    name: 'another name than the file',
    edit: (text) => text.replace('name: a\n', 'name: other\n'),
    reason: 'InvalidEdit',
    says: ['line 4', 'metadata.name is "other"', 'a.yaml'],
  },
  {
    name: 'another namespace than the folder',
    edit: (text) => text.replace('namespace: default', 'namespace: elsewhere'),
    reason: 'InvalidEdit',
    says: [LINE, 'metadata.namespace is "elsewhere"'],
  },
  {
    name: 'another kind',
    edit: (text) => text.replace('kind: Task', 'kind: Agent'),
    reason: 'InvalidEdit',
    says: ['line 2', 'kind is "Agent"'],
  },
  { name: 'two documents', edit: (text) => `${text}---\n${text}`, reason: 'InvalidEdit', says: [LINE, 'one object per file'] },
  { name: 'an empty file', edit: () => '', reason: 'InvalidYaml', says: ['line 1', 'empty'] },
  { name: 'only comments', edit: () => '# nothing here\n', reason: 'InvalidYaml', says: ['line 1', 'empty'] },
  { name: 'a list', edit: () => '- a\n- b\n', reason: 'InvalidYaml', says: [LINE, 'expected a resource'] },
  {
    name: 'a scalar as metadata',
    edit: (text) => text.replace(/metadata:\n( {2}.*\n)+/, 'metadata: x\n'),
    reason: 'InvalidEdit',
    says: [LINE],
  },
  { name: 'a truncated file', edit: (text) => text.slice(0, text.indexOf('team:')), reason: 'InvalidEdit', says: [LINE, 'spec'] },
  { name: 'a file cut inside a key', edit: (text) => text.slice(0, text.indexOf('generation') + 5), reason: 'InvalidYaml', says: [LINE] },
  {
    name: 'binary garbage',
    edit: () => Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 167 + 13) % 256)),
    reason: 'Unreadable',
    says: ['not UTF-8'],
  },
  {
    name: 'invalid UTF-8',
    edit: (text) => Buffer.concat([Buffer.from(text), Buffer.from([0x23, 0xc3, 0x28, 0x0a])]),
    reason: 'Unreadable',
    says: ['not UTF-8'],
  },
  { name: 'more than 1 MiB', edit: (text) => `${text}# ${'x'.repeat(1024 * 1024)}\n`, reason: 'Unreadable', says: ['too large', '1 MiB'] },
  { name: 'an alias bomb', edit: aliasBomb, reason: 'InvalidYaml', says: [LINE, /alias/i] },
  { name: 'deep nesting', edit: (text) => `${text}deep: ${'['.repeat(100_000)}\n`, reason: 'InvalidYaml', says: [LINE] },
  {
    name: 'deep nesting in block style',
    edit: (text) => `${text}deep:\n${Array.from({ length: 1_200 }, (_, i) => `${' '.repeat(i % 900)} k:\n`).join('')}`,
    reason: 'InvalidYaml',
    says: [LINE],
  },
  {
    name: 'a duplicate key',
    edit: (text) => text.replace('title: good', 'title: good\n  title: bad'),
    reason: 'InvalidYaml',
    says: [LINE, 'duplicate key "title"'],
  },
  {
    name: 'a prototype in place of an object',
    edit: (text) => `${text}__proto__:\n  polluted: yes\n`,
    reason: 'InvalidYaml',
    says: [LINE],
  },
];

async function withGood(work: (open: OpenStore, good: string) => Promise<void>): Promise<void> {
  await withStore(async (open) => {
    await open.store.create(taskDraft('a', { title: 'good' }));
    await open.store.create(taskDraft('bystander', { title: 'also good' }));
    await open.directory.settled();
    await work(open, readFileSync(open.file('a'), 'utf8'));
  });
}

const texts = (path: string) =>
  readdirSync(dirname(path))
    .filter((name) => name.startsWith('a.yaml.rejected'))
    .sort()
    .map((name) => readFileSync(join(dirname(path), name)));

describe('a bad edit', () => {
  it.each(BAD_EDITS)('with $name changes nothing, is kept byte for byte and reported', async ({ edit, reason, says }) => {
    await withGood(async (open, good) => {
      const { directory, store, file, get } = open;
      const before = [get('a'), get('bystander')];
      const version = store.resourceVersion;
      const bad = Buffer.from(edit(good));
      expect(bad.toString('latin1')).not.toBe(Buffer.from(good).toString('latin1'));
      saveByRename(file('a'), bad);
      const report = await reported(open, ({ type }) => type === 'rejected', 'the edit');
      await directory.settled();
      expect(report).toMatchObject({ reason, key: { name: 'a' } });
      expect(report.message).toContain('tasks/default/a.yaml: ');
      for (const part of says) expect(report.message).toMatch(part);
      expect(store.resourceVersion).toBe(version);
      expect([get('a'), get('bystander')]).toEqual(before);
      expect(texts(file('a'))).toEqual([bad]);
      expect(readFileSync(file('a'), 'utf8')).toBe(good);
      expect(auditFiles(directory, (path) => path.endsWith('.rejected'))).toEqual([]);
      expect(open.reports.filter(({ type }) => type === 'rejected')).toHaveLength(1);
    });
  });

  it('after another one keeps both texts', async () => {
    await withGood(async (open, good) => {
      const { directory, file } = open;
      const edits = ['one', 'two', 'three'].map((word) => good.replace('title: good', `${word}: bad`));
      for (const [index, text] of edits.entries()) {
        const since = open.reports.length;
        saveByRename(file('a'), text);
        await reported(open, ({ type }) => type === 'rejected', `edit ${index}`, since);
        await directory.settled();
      }
      expect(texts(file('a')).map(String).sort()).toEqual([...edits].sort());
      expect(readFileSync(`${file('a')}.rejected`, 'utf8')).toBe(edits[2]);
      expect(readFileSync(file('a'), 'utf8')).toBe(good);
    });
  });

  it('in place is put back as well, and a good edit after it counts', async () => {
    await withGood(async (open, good) => {
      const { directory, store, file, get } = open;
      writeFileSync(file('a'), good.replace('title: good', 'titel: bad'));
      await reported(open, ({ type }) => type === 'rejected', 'the bad edit');
      await directory.settled();
      expect(readFileSync(file('a'), 'utf8')).toBe(good);
      writeFileSync(file('a'), good.replace('title: good', 'title: better'));
      await until(store, () => specOf(get('a'))['title'] === 'better', 'the good edit');
    });
  });

  it('of a file that never became an object is set aside and creates nothing', async () => {
    await withGood(async (open) => {
      const { store, file, get, directory } = open;
      const text = taskText('fresh', 'titel: no');
      saveByRename(file('fresh'), text);
      await reported(open, ({ type, key }) => type === 'rejected' && key.name === 'fresh', 'the new file');
      await directory.settled();
      expect(get('fresh')).toBeUndefined();
      expect(store.count('Task')).toBe(2);
      expect(existsSync(file('fresh'))).toBe(false);
      expect(readFileSync(`${file('fresh')}.rejected`, 'utf8')).toBe(text);
    });
  });

  it('made while nobody ran is refused at the start', async () => {
    await inTemporaryFolder(async (home) => {
      const good = await onHome(home, async ({ directory, store, file }) => {
        await store.create(taskDraft('a', { title: 'good' }));
        await directory.settled();
        return { path: file('a'), text: readFileSync(file('a'), 'utf8') };
      });
      const bad = good.text.replace('title: good', 'titel: bad');
      writeFileSync(good.path, bad);
      await onHome(home, async ({ directory, reports, get }) => {
        await directory.settled();
        expect(reports.map(({ type, reason }) => [type, reason])).toEqual([['rejected', 'InvalidEdit']]);
        expect(get('a')?.spec).toMatchObject({ title: 'good' });
        expect(texts(good.path).map(String)).toEqual([bad]);
        expect(readFileSync(good.path, 'utf8')).toBe(good.text);
      });
    });
  });

  it('of a file whose name is no name is set aside and creates nothing', async () => {
    await withGood(async (open) => {
      const path = join(dirname(open.file('a')), 'Not A Name.yaml');
      saveByRename(path, taskText('not-a-name'));
      const { message } = await reported(open, ({ type }) => type === 'rejected', 'the file');
      expect(message).toContain('"Not A Name" is not a name');
      expect(existsSync(path)).toBe(false);
      expect(existsSync(`${path}.rejected`)).toBe(true);
    });
  });
});

describe('a path that leads out of the directory', () => {
  const outside = (home: string) => {
    const folder = join(home, 'outside');
    mkdirSync(folder);
    writeFileSync(join(folder, 'a.yaml'), taskText('a', 'title: from outside'));
    return folder;
  };
  /** Everything below a folder with its bytes: what must not change. */
  const contents = (folder: string) => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]);

  it('in the form of a symbolic link to a file is refused, not read and not written', async () => {
    await withGood(async (open, good) => {
      const { home, directory, file, get, store } = open;
      const folder = outside(home);
      const before = contents(folder);
      const beside = join(dirname(file('a')), '.link');
      symlinkSync(join(folder, 'a.yaml'), beside);
      renameSync(beside, file('a'));
      symlinkSync(join(folder, 'a.yaml'), file('b'));
      await reported(open, ({ reason, key }) => reason === 'NotAFile' && key.name === 'a', 'link a');
      await reported(open, ({ reason, key }) => reason === 'NotAFile' && key.name === 'b', 'link b');
      await directory.settled();
      const current = get('a');
      if (!current) throw new Error('gone');
      await store.update({ ...current, status: { phase: 'Running' } }, { subresource: 'status' });
      await directory.settled();
      expect(get('a')?.spec).toMatchObject({ title: 'good' });
      expect(get('b')).toBeUndefined();
      expect(lstatSync(file('a')).isFile()).toBe(true);
      expect(readFileSync(file('a'), 'utf8').startsWith(good.slice(0, 60))).toBe(true);
      expect(contents(folder)).toEqual(before);
    });
  });

  it('in the form of a linked namespace folder is not read and not written', async () => {
    await withGood(async (open) => {
      const { home, store, file, get } = open;
      const folder = outside(home);
      const before = contents(folder);
      symlinkSync(folder, dirname(file('a', 'linked')));
      await store.create(taskDraft('b', {}, { namespace: 'linked' }));
      // Seen after the link: once this is an object, the link was looked at too.
      saveByRename(file('later'), taskText('later'));
      await until(store, () => get('later') !== undefined, 'a later file');
      expect(get('a', 'linked')).toBeUndefined();
      expect(contents(folder)).toEqual(before);
    });
  });

  it('in the form of a link in place of a known namespace folder is not read and not written', async () => {
    await withGood(async (open) => {
      const { home, store, file, get, directory } = open;
      const folder = outside(home);
      const before = contents(folder);
      const namespace = dirname(file('a'));
      renameSync(namespace, join(home, 'moved'));
      symlinkSync(folder, namespace);
      const current = get('a');
      if (!current) throw new Error('gone');
      await store.update({ ...current, status: { phase: 'Running' } }, { subresource: 'status' });
      await reported(open, ({ type }) => type === 'refused', 'the folder');
      expect(contents(folder)).toEqual(before);
      expect(get('a')?.spec).toMatchObject({ title: 'good' });
      renameSync(namespace, join(home, 'link'));
      renameSync(join(home, 'moved'), namespace);
      await directory.settled();
      expect(get('a')?.spec).toMatchObject({ title: 'good' });
      expect(auditFiles(directory)).toEqual([]);
    });
  });

  it('in the form of a link in place of the folder of a kind is not read and not written', async () => {
    await inTemporaryFolder(async (home) => {
      const folder = join(home, 'outside');
      mkdirSync(join(folder, 'default'), { recursive: true });
      writeFileSync(join(folder, 'default', 'a.yaml'), taskText('a', 'title: from outside'));
      mkdirSync(join(home, 'resources'));
      symlinkSync(folder, join(home, 'resources', 'tasks'));
      const before = contents(join(folder, 'default'));
      await onHome(home, async ({ store, get }) => {
        await store.create(taskDraft('b'));
        expect(get('a')).toBeUndefined();
      });
      expect(contents(join(folder, 'default'))).toEqual(before);
      expect(readdirSync(folder)).toEqual(['default']);
    });
  });

  it('in the form of a link where a refused text would go is not followed', async () => {
    await withGood(async (open, good) => {
      const { home, file, directory } = open;
      const target = join(home, 'outside.txt');
      symlinkSync(target, `${file('a')}.rejected`);
      const bad = good.replace('title: good', 'titel: bad');
      saveByRename(file('a'), bad);
      await reported(open, ({ type }) => type === 'rejected', 'the edit');
      await directory.settled();
      expect(existsSync(target)).toBe(false);
      expect(readFileSync(`${file('a')}.rejected`, 'utf8')).toBe(bad);
    });
  });
});
