/** Hand edits that are taken: a file created, changed, removed, moved, copied or checked out becomes what the person meant. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../support/cli.ts';
import { startScript } from '../support/script.ts';
import { auditFiles, auditState } from '../support/store-audit.ts';
import {
  allTakenIn,
  onHome,
  putStatus,
  reported,
  saveByRename,
  specOf,
  statusOf,
  taskDraft,
  taskKey,
  taskText,
  until,
  withStore,
} from '../support/store-home.ts';

const rejectedIn = (folder: string) => readdirSync(folder).filter((name) => name.includes('.rejected'));

describe('a file that a person', () => {
  it('creates becomes an object, and the file then shows what the store added', async () => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      await store.create(taskDraft('other'));
      await directory.settled();
      saveByRename(file('made'), taskText('made'));
      await until(store, () => get('made') !== undefined, 'the object');
      await directory.settled();
      expect(specOf(get('made'))).toMatchObject({ title: 'first', priority: 3 });
      expect(readFileSync(file('made'), 'utf8')).toContain(`${get('made')?.metadata.uid}`);
      expect(auditFiles(directory)).toEqual([]);
    });
  });

  it('creates in a namespace that has no folder yet becomes an object there', async () => {
    await withStore(async ({ directory, store, get, file }) => {
      const path = file('made', 'fresh');
      execFileSync('mkdir', ['-p', dirname(path)]);
      writeFileSync(path, taskText('made'));
      await until(store, () => get('made', 'fresh') !== undefined, 'the object');
      await directory.settled();
      expect(get('made', 'fresh')?.metadata.namespace).toBe('fresh');
      expect(auditFiles(directory)).toEqual([]);
    });
  });

  it.each(['by rename', 'in place'])('changes %s is an update of the spec with a new generation', async (how) => {
    await withStore(async ({ directory, store, get, file }) => {
      const { metadata } = await store.create(taskDraft('a', { title: 'old' }));
      await directory.settled();
      const text = readFileSync(file('a'), 'utf8').replace('title: old', 'title: new');
      if (how === 'in place') writeFileSync(file('a'), text);
      else saveByRename(file('a'), text);
      await until(store, () => specOf(get('a'))['title'] === 'new', 'the edit');
      await directory.settled();
      expect(get('a')?.metadata).toMatchObject({ uid: metadata.uid, generation: 2 });
      expect(auditFiles(directory)).toEqual([]);
    });
  });

  it('removes is a delete of the object', async () => {
    await withStore(async ({ directory, store, get, file }) => {
      await store.create(taskDraft('a'));
      await directory.settled();
      rmSync(file('a'));
      await until(store, () => get('a') === undefined, 'the delete');
      await directory.settled();
      expect(existsSync(file('a'))).toBe(false);
    });
  });

  it('removes while a finalizer holds the object comes back and shows that it is terminating', async () => {
    await withStore(async ({ directory, store, get, file }) => {
      await store.create(taskDraft('a', {}, { finalizers: ['agentiso.dev/hold'] }));
      await directory.settled();
      rmSync(file('a'));
      await until(store, () => get('a')?.metadata.deletionTimestamp !== undefined, 'the mark');
      await directory.settled();
      expect(readFileSync(file('a'), 'utf8')).toContain('deletionTimestamp:');
      expect(auditFiles(directory)).toEqual([]);
      const held = get('a');
      if (!held) throw new Error('gone');
      await store.update({ ...held, metadata: { ...held.metadata, finalizers: [] } });
      await directory.settled();
      expect(get('a')).toBeUndefined();
      expect(existsSync(file('a'))).toBe(false);
    });
  });

  it('comments and formats keeps both over later status writes and over a restart', async () => {
    await inTemporaryFolder(async (home) => {
      const text = `# why this is here\n${taskText('a', 'title: "quoted"   # and why so')}  tags: [one,   two]\n`;
      const keeps = (now: string) => {
        for (const part of ['# why this is here', 'title: "quoted" # and why so', 'tags: [one, two]']) expect(now).toContain(part);
      };
      await onHome(home, async ({ directory, store, get, file }) => {
        writeFileSync(join(home, 'made.yaml'), text);
        execFileSync('mkdir', ['-p', dirname(file('a'))]);
        renameSync(join(home, 'made.yaml'), file('a'));
        await until(store, () => get('a') !== undefined, 'the object');
        await directory.settled();
        await putStatus(store, taskKey('a'), { phase: 'Running', attempt: 1 });
        await directory.settled();
        keeps(readFileSync(file('a'), 'utf8'));
        expect(auditFiles(directory)).toEqual([]);
      });
      await onHome(home, async ({ directory, store, file, reports }) => {
        expect(reports).toEqual([]);
        await putStatus(store, taskKey('a'), { phase: 'Succeeded', attempt: 2 });
        await directory.settled();
        keeps(readFileSync(file('a'), 'utf8'));
        expect(readFileSync(file('a'), 'utf8')).toContain('phase: Succeeded');
        expect(auditFiles(directory)).toEqual([]);
      });
    });
  });

  it('had linked elsewhere stays there as it was', async () => {
    await withStore(async ({ home, directory, store, file }) => {
      await store.create(taskDraft('a', { title: 'backed up' }));
      await directory.settled();
      linkSync(file('a'), join(home, 'backup.yaml'));
      const text = readFileSync(file('a'), 'utf8');
      for (const phase of ['Running', 'Succeeded', 'Failed', 'Pending']) {
        await putStatus(store, taskKey('a'), { phase });
        await directory.settled();
      }
      expect(readFileSync(join(home, 'backup.yaml'), 'utf8')).toBe(text);
    });
  });

  it('only comments changes no version and keeps the comment', async () => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      await store.create(taskDraft('a', { title: 'x' }));
      await directory.settled();
      const version = get('a')?.metadata.resourceVersion;
      saveByRename(file('a'), `# a remark\n${readFileSync(file('a'), 'utf8')}`);
      await allTakenIn(open);
      expect(get('a')?.metadata.resourceVersion).toBe(version);
      await putStatus(store, taskKey('a'), { phase: 'Running' });
      await directory.settled();
      expect(readFileSync(file('a'), 'utf8')).toMatch(/^# a remark\n/);
    });
  });

  it('moves to another name deletes nothing: the file returns and the moved one is set aside', async () => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      await store.create(taskDraft('a', { title: 'keep me' }));
      await directory.settled();
      const uid = get('a')?.metadata.uid;
      const text = readFileSync(file('a'), 'utf8');
      renameSync(file('a'), file('b'));
      await reported(open, ({ type, key }) => type === 'rejected' && key.name === 'b', 'the moved file');
      await allTakenIn(open);
      expect(get('a')?.metadata.uid).toBe(uid);
      expect(get('b')).toBeUndefined();
      expect(readFileSync(file('a'), 'utf8')).toContain('keep me');
      expect(existsSync(file('b'))).toBe(false);
      expect(readFileSync(`${file('b')}.rejected`, 'utf8')).toBe(text);
    });
  });

  it('moves over another file changes neither object', async () => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      await store.create(taskDraft('a', { title: 'title a' }));
      await store.create(taskDraft('b', { title: 'title b' }));
      await directory.settled();
      renameSync(file('a'), file('b'));
      await reported(open, ({ type, key }) => type === 'rejected' && key.name === 'b', 'the moved file');
      await allTakenIn(open);
      expect([specOf(get('a'))['title'], specOf(get('b'))['title']]).toEqual(['title a', 'title b']);
      expect(auditFiles(directory, (path) => path.endsWith('.rejected'))).toEqual([]);
    });
  });

  it('copies, with a new name inside, is a new object with its own uid', async () => {
    await withStore(async ({ directory, store, get, file }) => {
      await store.create(taskDraft('a', { title: 'shared' }));
      await putStatus(store, taskKey('a'), { phase: 'Running' });
      await directory.settled();
      const beside = join(dirname(file('a')), '.copy');
      copyFileSync(file('a'), beside);
      writeFileSync(beside, readFileSync(beside, 'utf8').replace('name: a', 'name: b'));
      renameSync(beside, file('b'));
      await until(store, () => get('b') !== undefined, 'the copy');
      await directory.settled();
      expect(specOf(get('b'))['title']).toBe('shared');
      expect(get('b')?.metadata.uid).not.toBe(get('a')?.metadata.uid);
      expect(get('b')?.status).toBeUndefined();
      expect(auditFiles(directory)).toEqual([]);
    });
  });

  it('changes in its status is put right, and the object does not move', async () => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      await store.create(taskDraft('a'));
      await putStatus(store, taskKey('a'), { phase: 'Running' });
      await directory.settled();
      const version = get('a')?.metadata.resourceVersion;
      saveByRename(file('a'), readFileSync(file('a'), 'utf8').replace('phase: Running', 'phase: Succeeded'));
      await allTakenIn(open);
      expect(statusOf(get('a'))['phase']).toBe('Running');
      expect(get('a')?.metadata.resourceVersion).toBe(version);
      expect(auditFiles(directory)).toEqual([]);
    });
  });
});

describe('a save that is not over yet', () => {
  const halves = (text: string, at: number): [Buffer, Buffer] => {
    const data = Buffer.from(text);
    return [data.subarray(0, at), data.subarray(at)];
  };
  const slowSave = async (path: string, [first, second]: [Buffer, Buffer]) => {
    const fd = openSync(path, 'w');
    writeSync(fd, first);
    // What is tested is this pause itself: the store sees half a file for as long as it lasts.
    await new Promise((resolve) => setTimeout(resolve, 40));
    writeSync(fd, second);
    closeSync(fd);
  };

  it('changes nothing until it is whole, and then counts', async () => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      await store.create(taskDraft('a', { title: 'old', description: 'long '.repeat(100) }));
      await directory.settled();
      const uid = get('a')?.metadata.uid;
      const text = readFileSync(file('a'), 'utf8').replace('title: old', 'title: new');
      await slowSave(file('a'), halves(text, Math.floor(text.length / 2)));
      await until(store, () => specOf(get('a'))['title'] === 'new', 'the edit');
      await allTakenIn(open);
      expect(get('a')?.metadata.uid).toBe(uid);
      expect(rejectedIn(dirname(file('a')))).toEqual([]);
      expect(auditFiles(directory)).toEqual([]);
    });
  });

  it('is not taken for broken text when it stops inside a letter', async () => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      await store.create(taskDraft('a', { title: 'old' }));
      await directory.settled();
      const text = readFileSync(file('a'), 'utf8').replace('title: old', 'title: "é"');
      await slowSave(file('a'), halves(text, Buffer.from(text).indexOf('é') + 1));
      await until(store, () => specOf(get('a'))['title'] === 'é', 'the edit');
      await allTakenIn(open);
      expect(rejectedIn(dirname(file('a')))).toEqual([]);
    });
  });

  it('that takes long is waited for, as long as its editor has the file open', async () => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      await store.create(taskDraft('a', { title: 'old' }));
      await directory.settled();
      const text = readFileSync(file('a'), 'utf8').replace('title: old', 'title: new');
      const fd = openSync(file('a'), 'w');
      // Longer than any file is given to rest; the store looks at an empty file several times meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 400));
      writeSync(fd, text);
      closeSync(fd);
      await until(store, () => specOf(get('a'))['title'] === 'new', 'the edit');
      await allTakenIn(open);
      expect(rejectedIn(dirname(file('a')))).toEqual([]);
      expect(auditFiles(directory)).toEqual([]);
    });
  });

  it('survives the store closing in the middle of it', async () => {
    await inTemporaryFolder(async (home) => {
      const text = await onHome(home, async ({ directory, store, file }) => {
        await store.create(taskDraft('a', { title: 'old' }));
        await directory.settled();
        const edited = readFileSync(file('a'), 'utf8').replace('title: old', 'title: new');
        // A write of ours is due, and the edit has not been looked at yet when the store closes.
        await putStatus(store, taskKey('a'), { phase: 'Running' });
        writeFileSync(file('a'), edited);
        return edited;
      });
      expect(text).toContain('title: new');
      await onHome(home, async ({ directory, get }) => {
        await directory.settled();
        expect(specOf(get('a'))['title']).toBe('new');
        expect(statusOf(get('a'))['phase']).toBe('Running');
        expect(auditFiles(directory)).toEqual([]);
      });
    });
  });
});

describe('an editor that has the file open', () => {
  it.each(['killed', 'running'])('while the store replaces it loses nothing it writes, the store being %s', async (fate) => {
    await inTemporaryFolder(async (home) => {
      const path = join(home, 'resources', 'tasks', 'default', 'a.yaml');
      const store = startScript('status-writer.ts', [home]);
      await store.line((line) => line === 'open', 'opening');
      const fd = openSync(path, 'r+');
      const edited = readFileSync(path, 'utf8').replace('title: old', 'title: by hand');
      store.child.stdin?.write('status\n');
      await store.line((line) => line === 'written 1', 'a status write');
      ftruncateSync(fd);
      writeSync(fd, edited, 0);
      if (fate === 'killed') {
        store.child.kill('SIGKILL');
        await store.ended;
        closeSync(fd);
      } else {
        closeSync(fd);
        await expect.poll(() => readFileSync(path, 'utf8'), { timeout: 10_000 }).toContain('by hand');
        store.child.kill('SIGKILL');
        await store.ended;
      }
      await onHome(home, async ({ directory, get, reports }) => {
        await directory.settled();
        expect(specOf(get('a'))['title']).toBe('by hand');
        expect(statusOf(get('a'))['attempt']).toBe(1);
        expect(reports.filter(({ type }) => type === 'rejected')).toEqual([]);
        expect(auditFiles(directory)).toEqual([]);
      });
      expect(auditState(home)).toEqual([]);
    });
  });
});

describe('an edit that races', () => {
  it('an API write of another field is merged with it', async () => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      const created = await store.create(taskDraft('a', { title: 'old', priority: 3 }));
      await directory.settled();
      const edited = readFileSync(file('a'), 'utf8').replace('title: old', 'title: by hand');
      const updating = store.update({ ...created, spec: { ...specOf(created), priority: 1 } });
      writeFileSync(file('a'), edited);
      await updating;
      await allTakenIn(open);
      expect(specOf(get('a'))).toMatchObject({ title: 'by hand', priority: 1 });
      expect(auditFiles(directory)).toEqual([]);
    });
  });

  it('an API write of the same field is reported and kept, not dropped', async () => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      const created = await store.create(taskDraft('a', { title: 'old' }));
      await directory.settled();
      const edited = readFileSync(file('a'), 'utf8').replace('title: old', 'title: by hand');
      const updating = store.update({ ...created, spec: { ...specOf(created), title: 'by program' } });
      writeFileSync(file('a'), edited);
      await updating;
      const { reason, message } = await reported(open, ({ type }) => type === 'rejected', 'the conflict');
      await allTakenIn(open);
      expect(reason).toBe('EditConflict');
      expect(message).toContain('spec.title');
      expect(specOf(get('a'))['title']).toBe('by program');
      expect(readFileSync(`${file('a')}.rejected`, 'utf8')).toBe(edited);
    });
  });

  it.each(['by rename', 'in place'])('a delete is applied or kept (%s)', async (how) => {
    await withStore(async (open) => {
      const { directory, store, get, file } = open;
      await store.create(taskDraft('a', { title: 'old' }));
      await directory.settled();
      const edited = readFileSync(file('a'), 'utf8').replace('title: old', 'title: by hand');
      const deleting = store.delete(taskKey('a'));
      if (how === 'in place') writeFileSync(file('a'), edited);
      else saveByRename(file('a'), edited);
      await deleting;
      await allTakenIn(open);
      const kept = existsSync(`${file('a')}.rejected`) ? readFileSync(`${file('a')}.rejected`, 'utf8') : '';
      expect(specOf(get('a'))['title'] === 'by hand' || kept === edited).toBe(true);
    });
  });
});

describe('git checkout', () => {
  it('between two commits of the resources folder makes the store what the commit says', async () => {
    await withStore(async (open) => {
      const { home, directory, store, get, file } = open;
      const resources = join(home, 'resources');
      const git = (...args: string[]) =>
        execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: resources, stdio: 'pipe' });
      for (const name of ['a', 'b', 'c']) await store.create(taskDraft(name, { title: `${name} one` }));
      await directory.settled();
      git('init', '-q', '-b', 'main');
      git('add', '-A');
      git('commit', '-qm', 'one');
      const a = get('a');
      if (!a) throw new Error('gone');
      await store.update({ ...a, spec: { ...specOf(a), title: 'a two' } });
      await store.delete(taskKey('b'));
      await store.create(taskDraft('d', { title: 'd two' }));
      await directory.settled();
      git('add', '-A');
      git('commit', '-qm', 'two');
      git('checkout', '-qf', 'HEAD~1');
      await until(store, () => get('b') !== undefined && get('d') === undefined && specOf(get('a'))['title'] === 'a one', 'commit one');
      await allTakenIn(open);
      const titles = () => store.list('Task').items.map((object) => specOf(object)['title']);
      expect(titles()).toEqual(['a one', 'b one', 'c one']);
      expect(get('a')?.metadata.uid).toBe(a.metadata.uid);
      git('checkout', '-qf', 'main');
      await until(store, () => get('b') === undefined && get('d') !== undefined && specOf(get('a'))['title'] === 'a two', 'commit two');
      await allTakenIn(open);
      expect(titles()).toEqual(['a two', 'c one', 'd two']);
      expect(rejectedIn(dirname(file('a')))).toEqual([]);
      expect(auditFiles(directory, (path) => path.startsWith(join(resources, '.git')))).toEqual([]);
    });
  });
});

describe('a text that an editor read long ago', () => {
  it('changes what the person changed in it, and takes back nothing that happened since', async () => {
    await withStore(async ({ directory, store, get, file }) => {
      const created = await store.create(taskDraft('old', { title: 'one', priority: 3, timeoutSeconds: 60 }));
      await directory.settled();
      const read = readFileSync(file('old'), 'utf8');
      await store.update({ ...created, spec: { ...specOf(created), priority: 1, timeoutSeconds: 90 } });
      await directory.settled();
      saveByRename(file('old'), read.replace('title: one', 'title: two').replace('timeoutSeconds: 60', 'timeoutSeconds: 30'));
      await until(store, () => specOf(get('old'))?.['title'] === 'two', 'the edit');
      expect(specOf(get('old'))).toMatchObject({ title: 'two', priority: 1, timeoutSeconds: 30 });
      await directory.settled();
      expect(auditFiles(directory)).toEqual([]);
    });
  });

  it('put back as it was replaces what is there', async () => {
    await withStore(async ({ directory, store, get, file }) => {
      const created = await store.create(taskDraft('old', { title: 'one', priority: 3 }));
      await directory.settled();
      const read = readFileSync(file('old'), 'utf8');
      await store.update({ ...created, spec: { ...specOf(created), priority: 1 } });
      await directory.settled();
      saveByRename(file('old'), read);
      await until(store, () => specOf(get('old'))?.['priority'] === 3, 'the old state');
      await directory.settled();
      expect(auditFiles(directory)).toEqual([]);
    });
  });
});
