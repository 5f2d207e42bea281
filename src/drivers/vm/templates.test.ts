import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { withLock } from '#lib/file-lock.ts';
import { silentLogger } from '#lib/log.ts';
import type { VmSupport } from './support.ts';
import { type TemplateKind, Templates, templateKey } from './templates.ts';

const IMAGE = { hash: 'hash', kernel: '/kernel', initrd: '/initrd', root: '/' };
const KIND: TemplateKind = {
  ...{ image: IMAGE, board: 'microvm', accel: 'tcg', vcpus: 1, memoryMiB: 256, diskGiB: 1 },
  hasNetwork: true,
};
const version = 'QEMU 7';
/** Ours: only root may give files away. */
const UID = process.getuid?.() ?? 0;
let base: string;
let directory: string;
let folder: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'agentiso-templates-'));
  directory = join(base, 'templates');
  mkdirSync(directory);
  folder = join(directory, templateKey(KIND, version));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe('a template', () => {
  it('is of another kind when anything is different that a copy would notice', () => {
    const others = [{ memoryMiB: 512 }, { diskGiB: 2 }, { vcpus: 2 }, { board: 'q35' as const }, { image: { ...IMAGE, initrd: '/other' } }];
    const keys = [KIND, ...others.map((other) => ({ ...KIND, ...other }))].map((kind) => templateKey(kind, version));
    expect(new Set([...keys, templateKey(KIND, 'QEMU 8')]).size).toBe(others.length + 2);
    expect(templateKey({ ...KIND, memory: 'copy' }, version)).toBe(keys[0]);
  });

  it('is thrown away when two copies in a row have not come up, not when one was killed, and not when it was made anew since', async () => {
    put('first');
    const templates = open('home');
    expect(await templates.find(KIND, UID)).toBeDefined();
    await templates.failed(KIND);
    templates.worked(KIND);
    await templates.failed(KIND);
    expect(existsSync(folder)).toBe(true);
    await templates.failed(KIND);
    expect([existsSync(folder), await templates.find(KIND, UID)]).toEqual([false, undefined]);
    put('second');
    await templates.find(KIND, UID);
    rmSync(folder, { recursive: true });
    put('third');
    for (const _ of [1, 2]) await templates.failed(KIND);
    const found = await templates.find(KIND, UID);
    expect(readFileSync(found?.memory ?? '', 'utf8')).toBe('third');
    await templates.close();
  });

  it('is copied for each team of a home, which keeps the copy when the template goes', async () => {
    put('first');
    const [one, two] = [open('one'), open('two')];
    const copies = await Promise.all([one, one, two].map((templates) => templates.find(KIND, UID)));
    expect(copies.map((copy) => copy?.memory)).toEqual(
      ['one', 'one', 'two'].map((home) => join(base, home, `${basename(folder)}-${UID}`, 'memory')),
    );
    rmSync(folder, { recursive: true });
    put('second');
    const other = await one.find(KIND, UID + 1);
    const first = await one.find(KIND, UID);
    const read = (name: 'memory' | 'state') => [first, other].map((copy) => readFileSync(copy?.[name] ?? '', 'utf8'));
    expect([read('memory'), read('state')]).toEqual([
      ['first', 'second'],
      ['state of first', 'state of second'],
    ]);
    rmSync(folder, { recursive: true });
    expect(await one.find(KIND, UID)).toEqual(first);
    expect(await two.find(KIND, UID + 1)).toBeUndefined();
    for (const templates of [one, two]) await templates.close();
  });

  it('goes with its image, when nobody has used it for long, and with what somebody left who was killed; so do copies, and what homes had before they shared', async () => {
    put('first');
    const [gone, unused] = [join(directory, 'f'.repeat(32)), join(directory, 'e'.repeat(32))];
    const copy = join(base, 'home', `${basename(folder)}-${UID}`);
    const leftovers = [`${folder}.new`, `${gone}.x.gone`, `${copy}.new`, join(base, 'home', basename(folder))];
    for (const path of [gone, unused, ...leftovers]) mkdirSync(path, { recursive: true });
    writeFileSync(join(unused, 'image'), '/');
    utimesSync(unused, 0, 0);
    writeFileSync(join(gone, 'image'), join(base, 'no-image'));
    const templates = open('home');
    expect(await templates.find(KIND, UID)).toBeDefined();
    expect([gone, unused, ...leftovers].filter(existsSync)).toEqual([]);
    await templates.close();
  });

  it('is left alone while somebody makes another', async () => {
    put('first');
    const making = `${folder}.new`;
    mkdirSync(making);
    const { signal } = new AbortController();
    await withLock(`${directory}.lock`, { signal }, async () => {
      const templates = open('home');
      expect(await templates.find(KIND, UID)).toBeDefined();
      expect(existsSync(making)).toBe(true);
      await templates.close();
    });
  });

  it('that cannot be copied is not used', async () => {
    put('first');
    const templates = open('home');
    await templates.find(KIND, UID);
    rmSync(join(base, 'home'), { recursive: true });
    expect(await templates.find(KIND, UID)).toBeUndefined();
    await templates.close();
  });
});

/** As a daemon has made it. */
function put(memory: string): void {
  mkdirSync(folder);
  const files = { image: '/', made: memory, memory, state: `state of ${memory}` };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

function open(home: string): Templates {
  const support = { version } as VmSupport;
  const copies = join(base, home);
  const caches = { directories: [directory, copies], budgetBytes: () => 2 ** 30 };
  return new Templates({ directory, copies, support, log: silentLogger, caches });
}
