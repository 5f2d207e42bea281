/**
 * A store on a disk that fills up, in a process of its own: mounts a small tmpfs over the folder it is given, so run it in a mount
 * namespace (`unshare`). Prints what happened as one line of JSON.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, rmSync, statfsSync, statSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Draft } from '#api/meta.ts';
import { AgentisoError } from '#lib/errors.ts';
import { auditFiles } from './store-audit.ts';
import { openStore, specOf, taskDraft, taskKey } from './store-home.ts';

export interface FullDiskResult {
  /** Acknowledged before, refused while, acknowledged after the disk was full. */
  readonly before: number;
  readonly during: number;
  readonly refusals: readonly { readonly code: string; readonly reason: string; readonly message: string; readonly hint: string }[];
  readonly after: number;
  readonly readable: number;
  /** What a reopened store has that it should not, or lacks. */
  readonly differences: readonly string[];
  readonly problems: readonly string[];
}

const OPTIONS = { segmentBytes: 64 * 1024, checkpointBytes: 128 * 1024 };
const EVENTS = 20;
const [home = ''] = process.argv.slice(2);

function event(name: string): Draft {
  return { apiVersion: 'v1', kind: 'Event', metadata: { name, namespace: 'default' }, message: 'x'.repeat(500) } as Draft;
}

function fillUp(path: string): void {
  const fd = openSync(path, 'w');
  try {
    for (const size of [64 * 1024, 4096, 1]) {
      for (;;) {
        if (writeSync(fd, Buffer.alloc(size)) === 0) break;
      }
    }
  } catch {
    // Full: what was asked for.
  } finally {
    closeSync(fd);
  }
}

async function main(): Promise<FullDiskResult> {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'none', home]);
  let { directory, store } = await openStore(home, OPTIONS);
  const acknowledged = new Map<string, string>();
  const refusals: FullDiskResult['refusals'][number][] = [];
  const body = 'x'.repeat(1500);
  const put = async (name: string, title: string) => {
    const current = store.get(taskKey(name));
    const spec = { title, description: body };
    const done = current
      ? await store.update({ ...current, spec: { ...specOf(current), ...spec } })
      : await store.create(taskDraft(name, spec));
    acknowledged.set(name, String(specOf(done)['title']));
  };
  const attempt = async (name: string, title: string) => {
    try {
      await put(name, title);
      return true;
    } catch (error) {
      if (!(error instanceof AgentisoError)) throw error;
      refusals.push({ code: error.code, reason: error.reason, message: error.message, hint: error.hint ?? '' });
      return false;
    }
  };
  for (let i = 0; i < 60; i++) await put(`t-${i}`, 'before');
  // Only the journal and the snapshot have these: no file could bring them back.
  for (let i = 0; i < EVENTS; i++) await store.create(event(`e-${i}`));
  await directory.settled();
  const before = acknowledged.size;
  const filler = join(home, 'filler');
  fillUp(filler);
  let during = 0;
  // Room that the journal has already taken is used up first; then every write is refused.
  for (let i = 0; refusals.length < 20 && i < 4000; i++) if (await attempt(`t-${i % 60}`, `during ${i}`)) during++;
  if (await attempt('fresh-during', 'no')) during++;
  const readable = store.list('Task').items.length;
  if (statfsSync(home).bavail > 64) throw new Error('the disk is not full');
  rmSync(filler);
  let after = 0;
  for (let i = 0; i < 200; i++) {
    await put(`t-${i % 60}`, `after ${i}`);
    after++;
  }
  await directory.settled();
  const problems = auditFiles(directory);
  // Closing takes a snapshot, for which there is some room but not enough.
  fillUp(filler);
  truncateSync(filler, statSync(filler).size - 48 * 1024);
  await directory.close();
  rmSync(filler);
  const again = await openStore(home, OPTIONS);
  ({ directory, store } = again);
  problems.push(...again.reports.map(({ message }) => message));
  if (store.count('Event') !== EVENTS) problems.push(`${store.count('Event')} of ${EVENTS} events are left`);
  const found = new Map(store.list('Task').items.map((object) => [object.metadata.name, String(specOf(object)['title'])]));
  const differences = [...new Set([...found.keys(), ...acknowledged.keys()])]
    .filter((name) => found.get(name) !== acknowledged.get(name))
    .map((name) => `${name}: acknowledged ${acknowledged.get(name)}, found ${found.get(name)}`);
  await directory.settled();
  problems.push(...auditFiles(directory));
  await directory.close();
  if (existsSync(join(home, 'state', 'snapshot.jsonl.new'))) problems.push('an unfinished snapshot is left over');
  return { before, during, refusals, after, readable, differences, problems };
}

process.stdout.write(`${JSON.stringify(await main())}\n`);
