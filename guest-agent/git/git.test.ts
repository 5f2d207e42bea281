import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { GitExportResult } from '#protocol/control.ts';
import { unheardRejections } from '../../test/support/unheard-rejections.ts';
import type { Guest } from '../guest.ts';
import { exportGit } from './export.ts';
import { importGit } from './import.ts';
import { MAX_APART } from './remembered.ts';
import { parseStatus } from './status.ts';

let folder: string;
let guest: Guest;
let host: string;
const signal = new AbortController().signal;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-guest-git-'));
  for (const name of ['work', 'state']) mkdirSync(join(folder, name));
  host = join(folder, 'host.git');
  execFileSync('git', ['init', '-q', '--bare', host]);
  // What these two calls use of a guest.
  guest = {
    root: join(folder, 'work'),
    stateDir: join(folder, 'state'),
    env: () => ({ PATH: '/usr/bin:/bin', HOME: folder }),
    groups: { size: 0 },
    log: { write: () => undefined },
  } as unknown as Guest;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function git(...args: string[]): string {
  return execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...args], {
    cwd: guest.root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

const atHost = (...args: string[]) => execFileSync('git', ['-C', host, ...args], { encoding: 'utf8' });

function write(files: Record<string, string>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(guest.root, path, '..'), { recursive: true });
    writeFileSync(join(guest.root, path), content);
  }
}

/** Takes the bundle into a repository, as the host does, and gives the result. */
async function bring(have: readonly string[] = [], isFinal = false): Promise<GitExportResult> {
  const out = new PassThrough();
  const chunks: Buffer[] = [];
  out.on('data', (chunk: Buffer) => chunks.push(chunk));
  const result = await exportGit(guest, { path: '/workspace', withUncommitted: true, have: [...have], isFinal }, out, signal);
  if (result.hasBundle) {
    writeFileSync(join(folder, 'bundle'), Buffer.concat(chunks));
    atHost('fetch', '-q', join(folder, 'bundle'), '+refs/*:refs/*');
  }
  expect(git2('for-each-ref', 'refs/agentiso')).toBe('');
  return result;
}

/** In the workspace, where it may be no repository. */
function git2(...args: string[]): string {
  try {
    return git(...args);
  } catch {
    return '';
  }
}

function startRepository(): string {
  git('init', '-q', '-b', 'main');
  write({ 'a.txt': 'one\n', '.gitignore': 'ignored\n' });
  git('add', '-A');
  git('commit', '-q', '-m', 'one');
  return git('rev-parse', 'HEAD');
}

it('brings the head, and then only what is new', async () => {
  const head = startRepository();
  expect(await bring()).toEqual({
    isRepository: true,
    hasBundle: true,
    refs: { 'refs/agentiso/export/head': head },
    uncommittedFiles: [],
    branches: { main: head },
    head,
    branch: 'main',
  });
  expect(atHost('show', `${head}:a.txt`)).toBe('one\n');
  expect(await bring([head, '0'.repeat(40)])).toMatchObject({ hasBundle: false, head });
});

it('brings what is not committed, in the index, in the files, untracked, stashed and on other branches, and leaves everything as it was', async () => {
  startRepository();
  git('checkout', '-q', '-b', 'other');
  write({ 'o.txt': 'o\n' });
  git('add', '-A');
  git('commit', '-q', '-m', 'other');
  const other = git('rev-parse', 'HEAD');
  git('checkout', '-q', 'main');
  write({ 'a.txt': 'stashed\n' });
  git('stash', 'push', '-q');
  write({ 'a.txt': 'staged\n' });
  git('add', 'a.txt');
  write({ 'a.txt': 'in the file\n', 'new/ütf.txt': 'untracked\n', ignored: 'not this\n' });
  symlinkSync('/etc/hostname', join(guest.root, 'link'));
  const before = git('status', '--porcelain');
  const { refs, uncommittedFiles } = await bring();
  const wip = refs['refs/agentiso/export/wip'] ?? '';
  expect(atHost('show', `${wip}:a.txt`)).toBe('in the file\n');
  expect(atHost('show', `${wip}:new/ütf.txt`)).toBe('untracked\n');
  expect(atHost('show', `${wip}:link`)).toBe('/etc/hostname');
  expect(atHost('ls-tree', '-r', '--name-only', wip)).not.toContain('ignored\n');
  expect(atHost('show', `${wip}^2:a.txt`)).toBe('staged\n');
  expect(atHost('show', `${refs['refs/agentiso/export/stash/0']}:a.txt`)).toBe('stashed\n');
  expect(refs['refs/agentiso/export/branches/other']).toBe(other);
  expect([...uncommittedFiles].sort()).toEqual(['a.txt', 'link', 'new/ütf.txt']);
  expect(git('status', '--porcelain')).toBe(before);
});

it('brings the files of a folder that is no repository, and makes none of it', async () => {
  write({ 'notes/x.md': 'x\n' });
  const { isRepository, refs } = await bring();
  expect(isRepository).toBe(false);
  expect(atHost('show', `${refs['refs/agentiso/export/wip']}:notes/x.md`)).toBe('x\n');
  expect(() => readFileSync(join(guest.root, '.git'))).toThrow('ENOENT');
  rmSync(join(guest.root, 'notes'), { recursive: true });
  expect(await bring()).toMatchObject({ hasBundle: false, refs: {} });
});

const wipOf = ({ refs }: GitExportResult) => refs['refs/agentiso/export/wip'] ?? '';

it('ends with the call that wanted it, harms nobody else, and leaves nothing in the repository', async () => {
  startRepository();
  writeFileSync(join(guest.root, 'large'), randomBytes(4 << 20));
  const call = new AbortController();
  // The host is gone before it has read more than the beginning.
  const out = new Writable({ highWaterMark: 1, write: () => call.abort() });
  const params = { path: '/workspace', withUncommitted: true, have: [], isFinal: false };
  const unheard = await unheardRejections(() => expect(exportGit(guest, params, out, call.signal)).rejects.toThrow());
  expect(unheard).toEqual([]);
  expect(git('for-each-ref', 'refs/agentiso')).toBe('');
});

it('gives the same commit for the same state, so that nothing is sent twice', async () => {
  const head = startRepository();
  write({ 'a.txt': 'changed\n', 'b.txt': 'new\n' });
  const wip = wipOf(await bring());
  expect(await bring([head, wip])).toMatchObject({ hasBundle: false, refs: { 'refs/agentiso/export/wip': wip } });
  expect(readdirSync(guest.stateDir)).toEqual([]);
  write({ 'b.txt': 'newer\n' });
  expect(wipOf(await bring([head, wip]))).not.toBe(wip);
});

it('brings what lies in repositories inside the repository, also without a commit and several deep', async () => {
  startRepository();
  for (const path of ['inner', 'inner/deeper', 'empty']) execFileSync('git', ['init', '-q', join(guest.root, path)]);
  write({ 'inner/deep/file.txt': 'precious\n', 'inner/.gitignore': '*.log\ndeeper/\n', 'inner/kept.log': 'tracked all the same\n' });
  const inner = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', '-C', join(guest.root, 'inner'), ...args]);
  inner('add', '-A');
  inner('add', '-f', 'kept.log');
  inner('commit', '-q', '-m', 'inner');
  write({ 'inner/.gitignore': '*.log\n', 'inner/x.log': 'ignored\n' });
  write({ 'inner/later.txt': 'untracked\n', 'inner/deeper/file.txt': 'deeper\n', 'empty/first.txt': 'never committed\n' });
  const wip = wipOf(await bring([], true));
  const files = { 'inner/deep/file.txt': 'precious\n', 'inner/later.txt': 'untracked\n', 'inner/kept.log': 'tracked all the same\n' };
  const deep = { 'inner/deeper/file.txt': 'deeper\n', 'empty/first.txt': 'never committed\n' };
  for (const [path, content] of Object.entries({ ...files, ...deep })) expect(atHost('show', `${wip}:${path}`)).toBe(content);
  expect(atHost('ls-tree', '-r', '--name-only', wip)).not.toContain('x.log');
  writeFileSync(join(folder, 'inner.bundle'), execFileSync('git', ['-C', host, 'show', `${wip}:inner/.agentiso-commits.bundle`]));
  execFileSync('git', ['clone', '-q', join(folder, 'inner.bundle'), join(folder, 'clone')], { stdio: 'ignore' });
  expect(readFileSync(join(folder, 'clone/deep/file.txt'), 'utf8')).toBe('precious\n');
});

it('brings the file itself where a filter would keep it elsewhere', async () => {
  startRepository();
  git('config', 'filter.away.clean', 'echo pointer');
  write({ '.gitattributes': '*.bin filter=away\n', 'x.bin': 'the real bytes\n' });
  expect(atHost('show', `${wipOf(await bring())}:x.bin`)).toBe('the real bytes\n');
});

it('brings the files of a repository that is damaged, the last time', async () => {
  startRepository();
  write({ 'new.txt': 'new\n' });
  rmSync(join(guest.root, '.git/objects'), { recursive: true });
  await expect(bring()).rejects.toThrow();
  const result = await bring([], true);
  expect(result.isRepository).toBe(false);
  for (const [path, content] of [
    ['a.txt', 'one\n'],
    ['new.txt', 'new\n'],
  ])
    expect(atHost('show', `${wipOf(result)}:${path}`)).toBe(content);
});

it('brings a file that is closed to everybody, the last time', async () => {
  startRepository();
  write({ 'closed/file.txt': 'closed\n' });
  chmodSync(join(guest.root, 'closed/file.txt'), 0);
  expect(atHost('show', `${wipOf(await bring([], true))}:closed/file.txt`)).toBe('closed\n');
});

it('understands paths with blanks, conflicts and a detached head', () => {
  const status = [
    '# branch.oid abc',
    '# branch.head (detached)',
    '# stash 2',
    '1 .M N... 100644 100644 100644 a b with blank',
    'u UU N... 1 2 3 4 a b c both.txt',
    '? new dir/',
  ];
  expect(parseStatus(`${status.join('\0')}\0`)).toEqual({
    head: 'abc',
    hasStashes: true,
    uncommittedFiles: ['with blank', 'both.txt', 'new dir/'],
  });
});

it('moves a branch with its clean check-out, and overwrites nothing', async () => {
  const head = startRepository();
  git('checkout', '-q', '-b', 'feature');
  write({ 'a.txt': 'two\n' });
  git('commit', '-q', '-am', 'two');
  const to = git('rev-parse', 'HEAD');
  execFileSync('git', ['bundle', 'create', '-q', join(folder, 'out'), 'feature', `^${head}`], { cwd: guest.root });
  git('checkout', '-q', 'main');
  git('branch', '-q', '-D', 'feature');
  const bundle = () => Readable.from([readFileSync(join(folder, 'out'))]);
  const move = (from: string) => importGit(guest, { path: '/workspace', branch: 'main', from, to }, bundle(), signal);
  write({ 'a.txt': 'mine\n' });
  expect(await move(head)).toMatchObject({ state: 'dirty' });
  expect(readFileSync(join(guest.root, 'a.txt'), 'utf8')).toBe('mine\n');
  git('checkout', '-q', '--', '.');
  expect(await move(to)).toEqual({ state: 'moved', now: head });
  expect(await move(head)).toEqual({ state: 'landed' });
  expect(readFileSync(join(guest.root, 'a.txt'), 'utf8')).toBe('two\n');
  expect(git('status', '--porcelain')).toBe('');
  expect(git('for-each-ref', 'refs/agentiso')).toBe('');
});

it('brings at last the commits that only a tag or a reflog knows, and nothing of what the host has', async () => {
  const head = startRepository();
  const commitOf = (name: string) => {
    write({ [`${name}.txt`]: `${name}\n` });
    git('add', '-A');
    git('commit', '-q', '-m', name);
    return git('rev-parse', 'HEAD');
  };
  const tagged = commitOf('tagged');
  git('tag', '-a', '-m', 'a tag', 'v1');
  git('reset', '-q', '--hard', head);
  const first = commitOf('reset');
  const second = commitOf('again');
  git('reset', '-q', '--hard', head);
  write({ 'a.txt': 'stashed\n' });
  git('stash', 'push', '-q');
  const rememberedIn = ({ refs }: GitExportResult) =>
    Object.entries(refs).flatMap(([ref, commit]) => (ref.includes('/remembered/') ? [commit] : []));
  expect(rememberedIn(await bring())).toEqual([]);
  const result = await bring([head], true);
  expect(rememberedIn(result).sort()).toEqual([tagged, second].sort());
  expect([atHost('show', `${tagged}:tagged.txt`), atHost('show', `${first}:reset.txt`)]).toEqual(['tagged\n', 'reset\n']);
  expect(rememberedIn(await bring([head, tagged, second], true))).toEqual([]);
});

it('joins them when they are many', async () => {
  const head = startRepository();
  const stale = Array.from({ length: MAX_APART + 1 }, (_, index) => {
    const id = git('commit-tree', `${head}^{tree}`, '-p', head, '-m', `stale ${index}`);
    git('update-ref', '-m', 'try', 'HEAD', id);
    return id;
  });
  git('update-ref', 'HEAD', head);
  await bring();
  const { refs } = await bring([head], true);
  const [joined = '', ...more] = Object.entries(refs).flatMap(([ref, commit]) => (ref.includes('/remembered/') ? [commit] : []));
  expect(more).toEqual([]);
  expect(atHost('rev-list', '--parents', '-1', joined).trim().split(' ').slice(1).sort()).toEqual([...stale].sort());
});
