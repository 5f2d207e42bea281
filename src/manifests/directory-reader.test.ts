import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DirectoryReader } from './directory-reader.ts';

let root = '';
let nowMs = 0;
let onFolder: (path: string) => void = () => {};
let reader: DirectoryReader;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agentiso-reader-'));
  // Later than the files of the test, so that they are not young.
  nowMs = Date.now() + 60_000;
  onFolder = () => {};
  mkdirSync(at('dir'));
  reader = newReader();
});
afterEach(() => rmSync(root, { recursive: true }));

function newReader(): DirectoryReader {
  return new DirectoryReader({
    directory: { path: at('dir'), fieldManager: 'dir:test' },
    onFolder: (path) => onFolder(path),
    clock: { now: () => new Date(nowMs) },
  });
}

function at(name: string): string {
  return join(root, name);
}

function write(name: string, text: string): void {
  mkdirSync(dirname(at(name)), { recursive: true });
  writeFileSync(at(name), text);
}

function task(name: string): string {
  return `apiVersion: agentiso.dev/v1alpha1\nkind: Task\nmetadata: {name: ${name}}\nspec: {team: crew, command: "true"}\n`;
}

async function look() {
  const { declarations, canPrune, problems, lookAgainMs } = await reader.read();
  return {
    declared: declarations.map(({ key, file }) => `${key.name} in ${file.slice(root.length)}`),
    canPrune,
    problems: problems.map(({ reason, message }) => `${reason} ${message.replaceAll(root, '')}`),
    lookAgainMs,
  };
}

const NEVER = Number.POSITIVE_INFINITY;
const settled = (...declared: string[]) => ({ declared, canPrune: true, problems: [], lookAgainMs: NEVER });

/** The second of two equal looks. */
async function lookTwice() {
  await look();
  nowMs += 100;
  return look();
}

describe('a look at a directory', () => {
  it('sees every document in the order of paths', async () => {
    write('dir/b.yml', `${task('two')}---\n${task('one')}`);
    write('dir/a/z.yaml', task('three'));
    write('dir/.git/x.yaml', task('no'));
    write('dir/.x.yaml', task('no'));
    write('dir/readme.md', 'no');
    expect(await lookTwice()).toEqual(settled('three in /dir/a/z.yaml', 'two in /dir/b.yml', 'one in /dir/b.yml'));
  });

  it('believes a removal only when the list stays the same', async () => {
    write('dir/a.yaml', task('one'));
    write('dir/b.yaml', task('two'));
    await lookTwice();
    unlinkSync(at('dir/a.yaml'));
    expect(await look()).toEqual({ ...settled('two in /dir/b.yaml'), canPrune: false, lookAgainMs: 100 });
    nowMs += 100;
    expect(await look()).toEqual(settled('two in /dir/b.yaml'));
  });

  it('that misses a file on its way from one folder to another prunes nothing', async () => {
    write('dir/deep/a.yaml', task('one'));
    write('dir/b.yaml', task('two'));
    await lookTwice();
    onFolder = (path) => {
      // The folder above is listed already.
      if (path.endsWith('/deep')) renameSync(at('dir/deep/a.yaml'), at('dir/a.yaml'));
    };
    expect(await look()).toMatchObject({ declared: ['two in /dir/b.yaml'], canPrune: false });
    onFolder = () => {};
    expect(await lookTwice()).toEqual(settled('one in /dir/a.yaml', 'two in /dir/b.yaml'));
  });

  it('takes what a file said before as said when the file became a link that leads out', async () => {
    write('dir/a.yaml', task('one'));
    write('outside.yaml', task('two'));
    await look();
    unlinkSync(at('dir/a.yaml'));
    symlinkSync('../outside.yaml', at('dir/a.yaml'));
    const message =
      'ManifestRefused /dir/a.yaml: the link leads out of the directory, to /outside.yaml; until it is put right nothing of this directory is deleted';
    expect(await lookTwice()).toEqual({ declared: ['one in /dir/a.yaml'], canPrune: false, problems: [message], lookAgainMs: NEVER });
    unlinkSync(at('dir/a.yaml'));
    write('dir/a.yaml', task('three'));
    expect(await lookTwice()).toEqual(settled('three in /dir/a.yaml'));
  });

  it('complains about a link that leads nowhere, and not about one that is no manifest', async () => {
    symlinkSync('nowhere', at('dir/a.yaml'));
    symlinkSync('nowhere', at('dir/notes'));
    expect(await lookTwice()).toMatchObject({
      canPrune: false,
      problems: [expect.stringMatching(/^InvalidManifest \/dir\/a\.yaml: ENOENT/)],
    });
  });

  it('mentions what a wrong document speaks of, so that it stays also after a restart', async () => {
    write('dir/a.yaml', task('one').replace('team', 'taem'));
    await look();
    nowMs += 100;
    const { mentioned, canPrune, declarations } = await reader.read();
    expect([[...mentioned], canPrune, declarations]).toEqual([['Task default/one'], true, []]);
  });
});

describe('a directory without manifests', () => {
  it('is believed soon when they were in this very folder', async () => {
    write('dir/a.yaml', task('one'));
    await look();
    unlinkSync(at('dir/a.yaml'));
    expect(await lookTwice()).toEqual({ ...settled(), canPrune: false, lookAgainMs: 1_900 });
    nowMs += 1_900;
    expect(await look()).toEqual(settled());
  });

  it('is believed after a while at a start', async () => {
    expect(await lookTwice()).toEqual({ ...settled(), canPrune: false, lookAgainMs: 29_900 });
    nowMs += 29_900;
    expect(await look()).toEqual(settled());
  });

  it('is never believed when it took the place of the one that had them', async () => {
    write('dir/a.yaml', task('one'));
    await look();
    renameSync(at('dir'), at('away'));
    mkdirSync(at('dir'));
    await look();
    nowMs += 3_600_000;
    const { canPrune, problems } = await look();
    expect([canPrune, problems]).toEqual([false, [expect.stringMatching(/^ManifestsUnavailable \/dir is empty and not the folder/)]]);
  });

  it('keeps in force what it said when it does not exist', async () => {
    write('dir/a.yaml', task('one'));
    await lookTwice();
    renameSync(at('dir'), at('away'));
    const problems = ['ManifestsUnavailable /dir does not exist; everything it declared stays as it is'];
    expect(await look()).toEqual({ declared: ['one in /dir/a.yaml'], canPrune: false, problems, lookAgainMs: 2_000 });
    renameSync(at('away'), at('dir'));
    expect(await look()).toEqual({ ...settled('one in /dir/a.yaml'), canPrune: false, lookAgainMs: 5_000 });
    nowMs += 5_000;
    expect(await look()).toEqual(settled('one in /dir/a.yaml'));
  });
});

it('says so when git seems to have left a check-out unfinished', async () => {
  write('dir/a.yaml', task('one'));
  write('dir/.git/index.lock', '');
  expect(await lookTwice()).toEqual({ ...settled('one in /dir/a.yaml'), canPrune: false, lookAgainMs: 100 });
  nowMs += 30_000;
  expect((await look()).problems).toEqual([
    'PruneHeld /dir: git has not finished changing the check-out (/dir/.git/index.lock); until it is put right nothing of this directory is deleted',
  ]);
  unlinkSync(at('dir/.git/index.lock'));
  expect(await look()).toEqual(settled('one in /dir/a.yaml'));
});
