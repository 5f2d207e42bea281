/** The disk under the store: full, locked by another process, damaged, newer; and what a reader of a file gets to see. */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Logger } from '#lib/log.ts';
import { silentLogger } from '#lib/log.ts';
import { encodeRecord } from '#store/disk/record.ts';
import { inTemporaryFolder } from '../support/cli.ts';
import type { FullDiskResult } from '../support/full-disk.ts';
import { requires } from '../support/requirements.ts';
import { startScript } from '../support/script.ts';
import { auditFiles } from '../support/store-audit.ts';
import { onHome, openStore, putStatus, specOf, statusOf, taskDraft, taskKey, withStore } from '../support/store-home.ts';

const namespace = [['-m'], ['-Urm']].find(
  (flags) => spawnSync('unshare', [...flags, 'sh', '-c', 'mount -t tmpfs none /mnt'], { stdio: 'ignore' }).status === 0,
);

requires(namespace !== undefined, 'a full disk needs unshare and mount in a namespace of its own')('a full disk', () => {
  it('refuses writes clearly, corrupts nothing, goes on reading, recovers by itself, and a reopened store has what was acknowledged', async () => {
    await inTemporaryFolder(async (home) => {
      const script = startScript('full-disk.ts', [home], ['unshare', ...(namespace ?? [])]);
      const { code, stderr } = await script.ended;
      expect(code, stderr).toBe(0);
      const result = JSON.parse(script.lines.at(-1) ?? '') as FullDiskResult;
      expect(result.before).toBe(60);
      expect(result.readable).toBe(60);
      expect(result.after).toBe(200);
      expect(result.refusals.length).toBeGreaterThanOrEqual(20);
      for (const { code, reason, message, hint } of result.refusals) {
        expect({ code, reason }).toEqual({ code: 'Unavailable', reason: 'DiskFull' });
        expect(message).toContain('no space left on device');
        expect(hint).toContain('free some space');
      }
      expect(result.differences).toEqual([]);
      expect(result.problems).toEqual([]);
    });
  });
});

describe('the lock of a directory', () => {
  it('refuses a second daemon and names the first; it is free as soon as that one is killed', async () => {
    await inTemporaryFolder(async (home) => {
      const holder = startScript('lock-holder.ts', [home]);
      await holder.line((line) => line === 'open', 'opening the store');
      const { pid } = holder.child;
      await expect(openStore(home)).rejects.toMatchObject({ code: 'Unavailable', reason: 'DirectoryLocked' });
      await expect(openStore(home)).rejects.toThrow(`pid ${pid}`);
      holder.child.kill('SIGKILL');
      await holder.ended;
      await onHome(home, async ({ get }) => {
        expect(get(`by-${pid}`)).toBeDefined();
      });
    });
  });

  it('is not taken along by processes that the holder starts', async () => {
    await inTemporaryFolder(async (home) => {
      const open = await openStore(home);
      const left = startScript('lock-holder.ts', [join(home, 'other')]);
      await left.line((line) => line === 'open', 'opening its own store');
      await open.directory.close();
      await onHome(home, async () => {});
      left.child.kill('SIGKILL');
      await left.ended;
    });
  });
});

interface Heard {
  readonly log: Logger;
  readonly errors: string[];
}

/** A logger that remembers what it was told as an error. */
function hearing(): Heard {
  const errors: string[] = [];
  const log = Object.create(silentLogger) as Logger;
  log.error = ((details: unknown, message: string) => errors.push(`${message} ${JSON.stringify(details)}`)) as unknown as Logger['error'];
  return { log, errors };
}

const stateFiles = (home: string, pattern: RegExp) =>
  readdirSync(join(home, 'state'))
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(home, 'state', name));
const segments = (home: string) => stateFiles(home, /^journal-\d+\.log$/);

/** Writes objects in a process that is then killed, so that the journal is all there is. */
async function killedStore(home: string): Promise<number> {
  const holder = startScript('journal-writer.ts', [home]);
  const line = await holder.line((text) => text.startsWith('version '), 'writing');
  holder.child.kill('SIGKILL');
  await holder.ended;
  return Number(line.split(' ')[1]);
}

function overwrite(path: string, at: number, bytes: string): void {
  const fd = openSync(path, 'r+');
  writeSync(fd, bytes, at);
  closeSync(fd);
}

describe('a journal', () => {
  it('whose last record was torn loses that record only', async () => {
    await inTemporaryFolder(async (home) => {
      const version = await killedStore(home);
      const last = segments(home).at(-1) ?? '';
      const data = readFileSync(last);
      const end = data.lastIndexOf('}\n') + 2;
      overwrite(last, end, '0badc0de {"put":{"apiVersion":"agentiso.dev/v1alpha1","kind":"Ta');
      const { log, errors } = hearing();
      await onHome(
        home,
        async ({ store, directory }) => {
          expect(store.resourceVersion).toBe(version);
          expect(store.count('Task')).toBe(10);
          await store.create(taskDraft('next'));
          await directory.settled();
          expect(auditFiles(directory)).toEqual([]);
        },
        { log },
      );
      expect(errors).toEqual([]);
      await onHome(home, async ({ store }) => expect(store.count('Task')).toBe(11));
    });
  });

  it('with a damaged record in the middle says so, keeps the rest, and takes the object from its file', async () => {
    await inTemporaryFolder(async (home) => {
      const version = await killedStore(home);
      const path = segments(home)[0] ?? '';
      const at = readFileSync(path).indexOf('"title":"4"');
      expect(at).toBeGreaterThan(0);
      overwrite(path, at, '#');
      const { log, errors } = hearing();
      await onHome(
        home,
        async ({ store, directory, get }) => {
          expect(store.count('Task')).toBe(10);
          expect(specOf(get('t-4'))['title']).toBe('4');
          expect(statusOf(get('t-4'))['phase']).toBe('Running');
          expect(store.resourceVersion).toBeGreaterThanOrEqual(version);
          await directory.settled();
          expect(auditFiles(directory)).toEqual([]);
        },
        { log },
      );
      expect(errors.join('\n')).toContain('damaged journal record');
    });
  });

  it('with the newest state of an object damaged takes it from the file, status and version included', async () => {
    await inTemporaryFolder(async (home) => {
      await killedStore(home);
      const path = segments(home)[0] ?? '';
      const at = readFileSync(path).lastIndexOf('"name":"t-4"');
      overwrite(path, at, '#');
      const { log, errors } = hearing();
      await onHome(
        home,
        async ({ directory, get }) => {
          expect(statusOf(get('t-4'))).toMatchObject({ phase: 'Running' });
          await directory.settled();
          expect(auditFiles(directory)).toEqual([]);
        },
        { log },
      );
      expect(errors).toHaveLength(1);
    });
  });

  it('with a damaged end of a segment that was closed says so', async () => {
    await inTemporaryFolder(async (home) => {
      await killedStore(home);
      const first = segments(home)[0] ?? '';
      // A second process goes on in a new segment, which seals the first one.
      await killedStore(home);
      expect(segments(home).length).toBeGreaterThan(1);
      overwrite(first, readFileSync(first).lastIndexOf('}\n') - 3, '#');
      const { log, errors } = hearing();
      await onHome(home, async ({ store }) => expect(store.count('Task')).toBe(10), { log });
      expect(errors.join('\n')).toContain('damaged journal record');
    });
  });

  it('with a missing segment says so', async () => {
    await inTemporaryFolder(async (home) => {
      const version = await killedStore(home);
      await killedStore(home);
      const newest = await killedStore(home);
      expect(segments(home).length).toBeGreaterThan(2);
      rmSync(segments(home)[1] ?? '');
      const { log, errors } = hearing();
      await onHome(
        home,
        async ({ store }) => {
          expect(store.count('Task')).toBe(10);
          expect(store.resourceVersion).toBeGreaterThanOrEqual(Math.max(version, newest));
        },
        { log },
      );
      expect(errors.join('\n')).toContain('is missing');
    });
  });
});

describe('a snapshot', () => {
  const closedStore = (home: string) =>
    onHome(home, async ({ directory, store }) => {
      for (let i = 0; i < 10; i++) await store.create(taskDraft(`t-${i}`, { title: String(i) }));
      await putStatus(store, taskKey('t-4'), { phase: 'Running', attempt: 7 });
      await directory.settled();
      return { objects: store.list('Task').items, version: store.resourceVersion };
    });
  const snapshot = (home: string) => join(home, 'state', 'snapshot.jsonl');

  it('with a damaged row restores that object from its file, uid and status included', async () => {
    await inTemporaryFolder(async (home) => {
      const before = await closedStore(home);
      overwrite(snapshot(home), readFileSync(snapshot(home)).indexOf('"name":"t-4"'), '#');
      const { log, errors } = hearing();
      await onHome(
        home,
        async ({ directory, store, reports }) => {
          expect(store.list('Task').items).toEqual(before.objects);
          expect(reports.map(({ type, key }) => [type, key.name])).toEqual([['restored', 't-4']]);
          await directory.settled();
          expect(auditFiles(directory)).toEqual([]);
        },
        { log },
      );
      expect(errors.join('\n')).toContain('damaged snapshot rows');
    });
  });

  it('with a damaged head gives no version out twice', async () => {
    await inTemporaryFolder(async (home) => {
      const before = await closedStore(home);
      overwrite(snapshot(home), 2, '##');
      await onHome(home, async ({ store }) => {
        expect(store.list('Task').items).toEqual(before.objects);
        expect(store.resourceVersion).toBeGreaterThan(before.version);
      });
    });
  });

  it.each(['after a row', 'to nothing'])('cut off %s restores what is missing from the files', async (where) => {
    await inTemporaryFolder(async (home) => {
      const before = await closedStore(home);
      const data = readFileSync(snapshot(home));
      truncateSync(snapshot(home), where === 'to nothing' ? 0 : data.indexOf('\n', data.length / 2) + 1);
      const { log, errors } = hearing();
      await onHome(
        home,
        async ({ store }) => {
          expect(store.list('Task').items).toEqual(before.objects);
          expect(store.resourceVersion).toBeGreaterThan(before.version);
        },
        { log },
      );
      expect(errors).not.toEqual([]);
    });
  });

  it('of a newer format is refused and left as it is', async () => {
    await inTemporaryFolder(async (home) => {
      await closedStore(home);
      const [, ...rows] = readFileSync(snapshot(home), 'utf8').split('\n');
      const text = encodeRecord(JSON.stringify({ format: 99, resourceVersion: 11, firstSegment: 2 })) + rows.join('\n');
      writeFileSync(snapshot(home), text);
      await expect(openStore(home)).rejects.toMatchObject({ code: 'Unavailable', reason: 'NewerFormat' });
      // The lock is free again, and the answer is the same.
      await expect(openStore(home)).rejects.toThrow('newer agentiso (format 99');
      expect(readFileSync(snapshot(home), 'utf8')).toBe(text);
      expect(existsSync(join(home, 'resources', 'tasks', 'default', 't-0.yaml'))).toBe(true);
    });
  });
});

describe('a reader of a file', () => {
  it('never sees it torn or missing while the store writes it', async () => {
    await withStore(async ({ directory, store, file }) => {
      await store.create(taskDraft('a', { description: 'long text '.repeat(200) }));
      await directory.settled();
      const reader = startScript('reader.ts', [file('a')]);
      await reader.line((line) => line === 'reading', 'reading');
      const end = Date.now() + 2_000;
      for (let attempt = 1; Date.now() < end; attempt++) {
        await putStatus(store, taskKey('a'), { phase: 'Running', attempt, progress: { text: 'p'.repeat(attempt % 3000) } });
        await pause(2);
      }
      reader.child.stdin?.end();
      const { code, stderr } = await reader.ended;
      expect(code, stderr).toBe(0);
      const { reads, versions, problems } = JSON.parse(reader.lines.at(-1) ?? '') as {
        reads: number;
        versions: number;
        problems: string[];
      };
      expect(problems).toEqual([]);
      expect(reads).toBeGreaterThan(100);
      expect(versions).toBeGreaterThan(5);
      await directory.settled();
      expect(auditFiles(directory)).toEqual([]);
    });
  });
});
