/** The whole room on a real folder and a real store in memory. */
import { appendFileSync, linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { admission, kinds } from '#api/kinds.ts';
import type { KindObject } from '#api/meta.ts';
import { localClient } from '#client/local.ts';
import { isObject } from '#lib/json.ts';
import { silentLogger } from '#lib/log.ts';
import type { Store } from '#store/store.ts';
import { memoryStore } from '../../test/support/memory-store.ts';
import { type FollowedManifests, type FollowOptions, followManifests } from './follow.ts';

const WAIT = { timeout: 15_000, interval: 5 };

let root = '';
let store: Store;
let followed: FollowedManifests | undefined;
let events: { reason: string; message: string; name: string }[] = [];
let deleted: string[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agentiso-manifests-'));
  store = memoryStore({ kinds, admission });
  events = [];
  deleted = [];
  store.watch('Task', {}, ({ type, object }) => {
    if (type === 'DELETED') deleted.push(object.metadata.name);
  });
});

afterEach(async () => {
  await followed?.stop();
  followed = undefined;
  rmSync(root, { recursive: true });
});

function task(name: string, title = 'first'): string {
  return `apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata:\n  name: ${name}\nspec:\n  team: crew\n  command: "true"\n  title: ${title}\n`;
}

function write(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

async function follow(directories: readonly string[] = ['dir'], options: Partial<FollowOptions> = {}): Promise<void> {
  const record = ({ metadata }: KindObject, reason: string, message: string) => void events.push({ reason, message, name: metadata.name });
  followed = followManifests({
    directories: directories.map((name) => join(root, name)),
    client: localClient(store),
    events: { normal: record, warning: record },
    log: silentLogger,
    ...options,
  });
  await followed.ready;
}

function titleOf(name: string): unknown {
  const spec = store.get({ kind: 'Task', namespace: 'default', name })?.spec;
  return isObject(spec) ? spec['title'] : undefined;
}

const becomes = (name: string, title: string | undefined) => vi.waitFor(() => expect(titleOf(name)).toBe(title), WAIT);
const eventsOf = (wanted: string) => events.filter(({ reason }) => reason === wanted).map(({ message }) => message.replaceAll(root, ''));

describe('following a directory', () => {
  it('has applied everything when it is ready', async () => {
    write('dir/a.yaml', `${task('one')}---\n${task('two')}`);
    await follow();
    expect([titleOf('one'), titleOf('two')]).toEqual(['first', 'first']);
  });

  it('deletes nothing while files move between folders as fast as they can', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `task-${index}`);
    for (const name of names) write(`dir/a/${name}.yaml`, task(name));
    mkdirSync(join(root, 'dir/b'));
    await follow(['dir'], { relistMs: 1 });
    for (let round = 0; round < 40; round++) {
      const [from, to] = round % 2 === 0 ? ['a', 'b'] : ['b', 'a'];
      for (const name of names) {
        renameSync(join(root, `dir/${from}/${name}.yaml`), join(root, `dir/${to}/${name}.yaml`));
        await turn();
      }
    }
    write('dir/last.yaml', task('last'));
    await becomes('last', 'first');
    unlinkSync(join(root, 'dir/last.yaml'));
    await vi.waitFor(() => expect(deleted).toEqual(['last']), WAIT);
  });

  it('finds at the relist what no watch told', async () => {
    write('outside.yaml', task('one'));
    mkdirSync(join(root, 'dir'));
    linkSync(join(root, 'outside.yaml'), join(root, 'dir/one.yaml'));
    await follow(['dir'], { relistMs: 200 });
    // Through its other name the folder hears nothing of it.
    writeFileSync(join(root, 'outside.yaml'), task('one', 'second'));
    await becomes('one', 'second');
  });

  it('follows a link in its place that is turned to the next revision', async () => {
    write('one/a.yaml', task('one'));
    write('two/a.yaml', task('one', 'second'));
    symlinkSync('one', join(root, 'current'));
    await follow(['current']);
    symlinkSync('two', join(root, 'next'));
    renameSync(join(root, 'next'), join(root, 'current'));
    await becomes('one', 'second');
    write('two/a.yaml', task('one', 'third'));
    await becomes('one', 'third');
    expect(deleted).toEqual([]);
  });

  it('watches a folder that was replaced by another of the same name', async () => {
    write('dir/sub/a.yaml', task('one'));
    write('new/a.yaml', task('one', 'second'));
    await follow();
    renameSync(join(root, 'dir/sub'), join(root, 'old'));
    renameSync(join(root, 'new'), join(root, 'dir/sub'));
    await becomes('one', 'second');
    write('dir/sub/a.yaml', task('one', 'third'));
    await becomes('one', 'third');
  });

  it('follows a directory inside another one for itself', async () => {
    write('dir/a.yaml', task('one'));
    write('dir/sub/b.yaml', task('two'));
    await follow(['dir', 'dir/sub']);
    write('dir/a.yaml', task('one', 'second'));
    await becomes('one', 'second');
    write('dir/sub/b.yaml', task('two', 'second'));
    await becomes('two', 'second');
    expect(eventsOf('DuplicateResource')).toHaveLength(1);
  });
});

describe('what is wrong', () => {
  it('is told once while it lasts, and again when it comes back', async () => {
    write('dir/a.yaml', 'kind: [\n');
    write('dir/b.yaml', task('two'));
    await follow(['dir'], { relistMs: 20 });
    for (const title of ['second', 'third']) {
      write('dir/b.yaml', task('two', title));
      await becomes('two', title);
    }
    expect(eventsOf('InvalidManifest')).toEqual([
      expect.stringMatching(/^\/dir\/a\.yaml:\d+:\d+: .*nothing of this directory is deleted$/),
    ]);
    write('dir/a.yaml', task('one'));
    await becomes('one', 'first');
    write('dir/a.yaml', 'kind: [\n');
    await vi.waitFor(() => expect(eventsOf('InvalidManifest')).toHaveLength(2), WAIT);
  });

  it('in one object stops no other, and names the line of the field that may not change', async () => {
    write('dir/a.yaml', `${task('one')}---\n${task('two')}`);
    await follow();
    write('dir/a.yaml', `${task('one', 'second').replace('team: crew', 'team: other')}---\n${task('two', 'second')}`);
    await becomes('two', 'second');
    await vi.waitFor(
      () => expect(eventsOf('InvalidManifest')).toEqual([expect.stringMatching(/^\/dir\/a\.yaml:2: line 6: spec\.team: /)]),
      WAIT,
    );
    expect(events.map(({ name }) => name)).toEqual(['one']);
    expect(titleOf('one')).toBe('first');
    // The way out: the old object goes, and the manifest is right for a new one.
    await store.delete({ kind: 'Task', namespace: 'default', name: 'one' });
    await becomes('one', 'second');
  });

  it('is an object that cannot be stored right now: it is tried again', async () => {
    write('dir/a.yaml', task('one'));
    const client = localClient(store);
    let failures = 1;
    await follow(['dir'], {
      client: {
        ...client,
        apply: (config, options) => (failures-- > 0 ? Promise.reject(new Error('disk full')) : client.apply(config, options)),
      },
    });
    expect(eventsOf('ApplyFailed')).toEqual(['/dir/a.yaml:2: disk full']);
    await becomes('one', 'first');
  });
});

describe('what others do', () => {
  it('is put right when it concerns what a manifest says, and only then', async () => {
    write('dir/a.yaml', task('one'));
    await follow();
    const key = { kind: 'Task', namespace: 'default', name: 'one' };
    const edit = (change: (object: KindObject) => KindObject) => store.modify(key, (object) => change(object ?? expect.fail('gone')));
    await edit((object) => ({ ...object, spec: { ...(object.spec as object), title: 'by hand', priority: 1 } }));
    await becomes('one', 'first');
    expect(store.get(key)?.spec).toMatchObject({ priority: 1 });
    await store.delete(key);
    await becomes('one', 'first');
  });

  it('causes no write when it does not', async () => {
    write('dir/a.yaml', task('one'));
    write('dir/b.yaml', '# not empty\n');
    await follow();
    const key = { kind: 'Task', namespace: 'default', name: 'one' };
    const live = store.get(key) ?? expect.fail('gone');
    const { metadata } = await store.update({ ...live, status: { phase: 'Pending' } }, { subresource: 'status' });
    appendFileSync(join(root, 'dir/a.yaml'), '# a comment\n');
    write('dir/b.yaml', task('two'));
    await becomes('two', 'first');
    expect(store.get(key)?.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  it('is over when it is stopped', async () => {
    write('dir/a.yaml', task('one'));
    await follow();
    await followed?.stop();
    expect(store.watcherCount).toBe(1);
  });
});
