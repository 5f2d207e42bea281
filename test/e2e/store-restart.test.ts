/** What a start makes of what it finds: edits made while nobody ran, a lost state folder, lost folders, file modes. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inTemporaryFolder } from '../support/cli.ts';
import { auditFiles, auditState } from '../support/store-audit.ts';
import {
  allTakenIn,
  onHome,
  putStatus,
  saveByRename,
  specOf,
  taskDraft,
  taskKey,
  taskText,
  until,
  withStore,
} from '../support/store-home.ts';

describe('a store that starts', () => {
  it('takes in what was changed, removed and created while nobody ran', async () => {
    await inTemporaryFolder(async (home) => {
      const paths = await onHome(home, async ({ directory, store, file }) => {
        for (const name of ['changed', 'removed', 'same']) await store.create(taskDraft(name, { title: 'old' }));
        await directory.settled();
        return { changed: file('changed'), removed: file('removed'), created: file('created') };
      });
      expect(auditState(home)).toEqual([]);
      writeFileSync(paths.changed, readFileSync(paths.changed, 'utf8').replace('title: old', 'title: new'));
      rmSync(paths.removed);
      writeFileSync(paths.created, taskText('created'));
      await onHome(home, async ({ directory, get, reports }) => {
        expect(specOf(get('changed'))['title']).toBe('new');
        expect(get('removed')).toBeUndefined();
        expect(specOf(get('created'))['title']).toBe('first');
        expect(specOf(get('same'))['title']).toBe('old');
        expect(reports.map(({ key, reason }) => `${key.name} ${reason}`).sort()).toEqual([
          'changed FileEdited',
          'created FileCreated',
          'removed FileRemoved',
        ]);
        await directory.settled();
        expect(auditFiles(directory)).toEqual([]);
      });
    });
  });

  it('takes away the half of a snapshot that somebody killed before left', async () => {
    await inTemporaryFolder(async (home) => {
      await onHome(home, async ({ store }) => store.create(taskDraft('t')));
      writeFileSync(join(home, 'state', 'snapshot.jsonl.new'), 'half a snap');
      await onHome(home, async ({ get }) => expect(get('t')).toBeDefined());
      expect(auditState(home)).toEqual([]);
    });
  });

  it('finds nothing to do when nothing happened', async () => {
    await inTemporaryFolder(async (home) => {
      const version = await onHome(home, async ({ directory, store }) => {
        for (let i = 0; i < 20; i++) await store.create(taskDraft(`t-${i}`));
        await directory.settled();
        return store.resourceVersion;
      });
      await onHome(home, async ({ store, reports, directory }) => {
        expect(store.resourceVersion).toBe(version);
        expect(reports).toEqual([]);
        expect(auditFiles(directory)).toEqual([]);
      });
    });
  });

  it('restores everything from the files when the state folder is gone, and versions do not go back', async () => {
    await inTemporaryFolder(async (home) => {
      const before = await onHome(home, async ({ directory, store }) => {
        for (const name of ['a', 'b', 'c']) await store.create(taskDraft(name, { title: name }, { labels: { is: name } }));
        await putStatus(store, taskKey('b'), { phase: 'Running', attempt: 2 });
        await store.delete(taskKey('c'));
        await directory.settled();
        return { objects: store.list('Task').items, version: store.resourceVersion };
      });
      rmSync(join(home, 'state'), { recursive: true });
      await onHome(home, async ({ directory, store, reports }) => {
        expect(store.list('Task').items).toEqual(before.objects);
        expect(store.resourceVersion).toBeGreaterThan(before.version);
        expect(reports.map(({ type }) => type)).toEqual(['restored', 'restored']);
        const { metadata } = await store.create(taskDraft('d'));
        expect(Number(metadata.resourceVersion)).toBeGreaterThan(before.version);
        await directory.settled();
        expect(auditFiles(directory)).toEqual([]);
      });
    });
  });

  it('makes files 0600 and folders 0700, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      await inTemporaryFolder(async (folder) => {
        const home = join(folder, 'home');
        await onHome(home, async (open) => {
          const { directory, store, file } = open;
          await store.create(taskDraft('a'));
          await directory.settled();
          saveByRename(file('a'), readFileSync(file('a'), 'utf8').replace('command:', 'titel: bad\n  command:'));
          await allTakenIn(open);
          const look = (path: string): string[] =>
            readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
              const below = join(path, entry.name);
              const mode = statSync(below).mode & 0o777;
              const wrong = mode === (entry.isDirectory() ? 0o700 : 0o600) ? [] : [`${below} ${mode.toString(8)}`];
              return entry.isDirectory() ? [...wrong, ...look(below)] : wrong;
            });
          expect(look(home)).toEqual([]);
          expect(statSync(home).mode & 0o777).toBe(0o700);
        });
      });
    } finally {
      process.umask(umask);
    }
  });
});

describe('a folder that is taken away', () => {
  it('comes back with all its files when it was that of a whole kind, and is watched again', async () => {
    await withStore(async (open) => {
      const { directory, store, file, get, home } = open;
      for (const name of ['a', 'b']) await store.create(taskDraft(name, { title: 'here' }));
      await directory.settled();
      const uids = [get('a')?.metadata.uid, get('b')?.metadata.uid];
      rmSync(join(home, 'resources', 'tasks'), { recursive: true });
      // A later change in another folder is seen after this one.
      writeFileSync(join(home, 'resources', 'teams', 'seen'), '');
      await expect.poll(() => readdirSync(join(home, 'resources', 'tasks', 'default')), { timeout: 10_000 }).toContain('a.yaml');
      await directory.settled();
      expect([get('a')?.metadata.uid, get('b')?.metadata.uid]).toEqual(uids);
      expect(auditFiles(directory, (path) => path.endsWith('seen'))).toEqual([]);
      saveByRename(file('a'), readFileSync(file('a'), 'utf8').replace('title: here', 'title: edited'));
      await until(store, () => specOf(get('a'))['title'] === 'edited', 'an edit in the new folder', 10_000);
    });
  });

  it('and replaced by another one at once is watched in its new place', async () => {
    await withStore(async (open) => {
      const { directory, store, file, get, home } = open;
      await store.create(taskDraft('a', { title: 'here' }));
      await directory.settled();
      const tasks = join(home, 'resources', 'tasks');
      mkdirSync(join(home, 'copy', 'default'), { recursive: true, mode: 0o700 });
      writeFileSync(join(home, 'copy', 'default', 'a.yaml'), readFileSync(file('a')), { mode: 0o600 });
      renameSync(tasks, join(home, 'old'));
      renameSync(join(home, 'copy'), tasks);
      saveByRename(file('a'), readFileSync(file('a'), 'utf8').replace('title: here', 'title: one'));
      await until(store, () => specOf(get('a'))['title'] === 'one', 'the first edit in the new folder', 10_000);
      await directory.settled();
      saveByRename(file('a'), readFileSync(file('a'), 'utf8').replace('title: one', 'title: two'));
      await until(store, () => specOf(get('a'))['title'] === 'two', 'the second edit in the new folder', 10_000);
      await directory.settled();
      expect(auditFiles(directory)).toEqual([]);
    });
  });

  it('and cannot be written to keeps no write from being acknowledged, and is right when it can again', async () => {
    await withStore(async ({ directory, store, file, get }) => {
      await store.create(taskDraft('a', { title: 'here' }));
      await directory.settled();
      const folder = dirname(file('a'));
      chmodSync(folder, 0o500);
      const current = get('a');
      if (!current) throw new Error('gone');
      await store.update({ ...current, spec: { ...specOf(current), title: 'there' } });
      chmodSync(folder, 0o700);
      await directory.settled();
      expect(auditFiles(directory)).toEqual([]);
    });
  });
});
