import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { KindObject } from '#api/meta.ts';
import { inTemporaryFolder } from '../../test/support/cli.ts';
import { onHome, openStore, taskDraft, taskKey } from '../../test/support/store-home.ts';
import type { SnapshotHeader, SnapshotRow } from './disk/snapshot.ts';

const SMALL = { segmentBytes: 16 * 1024, checkpointBytes: 32 * 1024 };
const TASKS = 200;

/** Every line without its checksum. */
function readSnapshotFile(home: string): { header: SnapshotHeader; rows: SnapshotRow[] } {
  const lines = readFileSync(join(home, 'state', 'snapshot.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  const [header, ...rows] = lines.map((line) => JSON.parse(line.slice(line.indexOf(' ') + 1)));
  return { header, rows };
}

it('a snapshot that is written while others write and delete shows one moment, and loses nothing when it is all there is', async () => {
  await inTemporaryFolder(async (home) => {
    const { directory, store } = await openStore(home, SMALL);
    const happened: { readonly version: number; readonly type: string; readonly object: KindObject }[] = [];
    store.watch('Task', {}, ({ type, object, resourceVersion }) => happened.push({ version: resourceVersion, type, object }));
    await Promise.all(Array.from({ length: TASKS }, (_, index) => store.create(taskDraft(`t-${index}`))));
    await directory.settled();
    let isOver = false;
    const change = async (first: number) => {
      for (let round = 0; !isOver; round++) {
        const key = taskKey(`t-${first}`);
        await store.modify(key, (current) => ({
          ...(current as KindObject),
          spec: { team: 'crew', command: 'true', title: `round ${round}` },
        }));
        if (round % 3 === 2) {
          await store.delete(key);
          await store.create(taskDraft(key.name));
        }
      }
    };
    const writers = Array.from({ length: 20 }, (_, index) => change(index * 10));
    const seen = new Set<number>();
    await vi.waitFor(
      () => {
        if (existsSync(join(home, 'state', 'snapshot.jsonl'))) seen.add(readSnapshotFile(home).header.resourceVersion);
        expect(seen.size).toBeGreaterThan(2);
      },
      { timeout: 30_000, interval: 5 },
    );
    const { header, rows } = readSnapshotFile(home);
    const then = new Map<string, string>();
    for (const { version, type, object } of happened) {
      if (version > header.resourceVersion) continue;
      if (type === 'DELETED') then.delete(object.metadata.name);
      else then.set(object.metadata.name, object.metadata.resourceVersion);
    }
    const found = rows.map(({ object }) => [object.metadata.name, object.metadata.resourceVersion] as const);
    expect([rows.length, new Map(found)]).toEqual([header.rows, then]);
    isOver = true;
    await Promise.all(writers);
    const last = new Map(store.list('Task').items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]));
    // Without a last word, as one that was killed.
    directory.abandon();
    await onHome(home, async (again) => {
      expect(new Map(again.store.list('Task').items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]))).toEqual(last);
      expect(again.reports).toEqual([]);
    });
  });
});

it('a look at everything finds many files that went without a hint, and leaves the rest as it is', async () => {
  await inTemporaryFolder(async (home) => {
    await onHome(home, async ({ directory, store }) => {
      const names = Array.from({ length: TASKS }, (_, index) => `t-${index}`);
      const draftIn = (namespace: string, name: string) => ({ ...taskDraft(name), metadata: { name, namespace } });
      await Promise.all(['default', 'lab'].flatMap((namespace) => names.map((name) => store.create(draftIn(namespace, name)))));
      await directory.settled();
      const tasks = join(home, 'resources', 'tasks');
      const versions = () => store.list('Task', { namespace: 'default' }).items.map(({ metadata }) => metadata.resourceVersion);
      const before = versions();
      // The whole folder at once: its files say nothing.
      renameSync(join(tasks, 'lab'), join(home, 'lab'));
      await vi.waitFor(() => expect(store.list('Task', { namespace: 'lab' }).items).toEqual([]), { timeout: 20_000 });
      await directory.settled();
      expect(versions()).toEqual(before);
      writeFileSync(join(tasks, 'default', 't-7.yaml'), readFileSync(join(tasks, 'default', 't-7.yaml'), 'utf8').replace('true', 'false'));
      await vi.waitFor(() => expect(store.get(taskKey('t-7'))?.spec).toMatchObject({ command: 'false' }), { timeout: 20_000 });
    });
  });
});
