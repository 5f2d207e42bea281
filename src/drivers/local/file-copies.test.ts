import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FileCopies, finishRestore } from './file-copies.ts';

let root: string;
let folder: string;
let copies: FileCopies;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agentiso-copies-'));
  folder = join(root, 'one');
  mkdirSync(join(folder, 'workspace', 'deep'), { recursive: true });
  mkdirSync(join(folder, 'home'));
  writeFileSync(join(folder, 'record.json'), 'not a file of the agent');
  write('old');
  copies = new FileCopies(root);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const signal = () => AbortSignal.timeout(30_000);
const roomy = async () => {};
const NAMES = ['upper', 'workspace', 'home'];
const write = (text: string, at = folder) => {
  writeFileSync(join(at, 'workspace', 'deep', 'f'), text);
  writeFileSync(join(at, 'home', 'note'), text);
};
const read = (at = folder) => [readFileSync(join(at, 'workspace', 'deep', 'f'), 'utf8'), readFileSync(join(at, 'home', 'note'), 'utf8')];
const take = (name: string, hold = (copy: (limit: AbortSignal) => Promise<void>, until: AbortSignal) => copy(until)) =>
  copies.take({ folder, name, names: NAMES, hold, room: roomy }, signal());
const restore = (name: string, at = folder) => copies.restore(at, name, async () => {}, signal());

describe('copies of files', () => {
  it('are not begun where there is no room for them', async () => {
    write('first');
    const asked: number[] = [];
    const room = async (bytes: number) => {
      asked.push(bytes);
      throw new Error('no room');
    };
    const hold = async () => expect.unreachable();
    await expect(copies.take({ folder, name: 'large', names: NAMES, hold, room }, signal())).rejects.toThrow('no room');
    expect([asked.every((bytes) => bytes > 0), asked.length, await copies.list()]).toEqual([true, 1, []]);
  });

  it('are of one moment, whole, and go in any order', async () => {
    for (const text of ['first', 'second', 'third']) {
      write(text);
      expect(await take(text)).toBeGreaterThan(0);
    }
    await copies.remove('first');
    await restore('second');
    expect(read()).toEqual(['second', 'second']);
    expect(await copies.list()).toEqual(['second', 'third']);
    // Another workspace begins with one, which may go then.
    await restore('third', join(root, 'two'));
    await copies.remove('third');
    expect([read(join(root, 'two')), read()]).toEqual([
      ['third', 'third'],
      ['second', 'second'],
    ]);
    expect(readdirSync(folder).sort()).toEqual(['home', 'record.json', 'workspace']);
    await expect(restore('third')).rejects.toThrow('there is no snapshot third');
  });

  it('stay as they are when they are taken again', async () => {
    await take('s');
    write('new');
    await take('s');
    await restore('s');
    expect(read()).toEqual(['old', 'old']);
  });

  it('keep modes, links, times and holes', async () => {
    const file = (name: string) => join(folder, 'workspace', name);
    writeFileSync(file('large'), '');
    truncateSync(file('large'), 1024 ** 3);
    execFileSync('sh', ['-c', 'echo x > run; chmod 751 run; ln -s run link; ln run hard; touch -d 2001-02-03 run; mkfifo pipe'], {
      cwd: join(folder, 'workspace'),
    });
    const shown = () =>
      execFileSync('sh', ['-c', 'stat -c "%n %A %h %Y" run hard pipe; readlink link'], {
        cwd: join(folder, 'workspace'),
        encoding: 'utf8',
      });
    const before = shown();
    expect(await take('s')).toBeLessThan(1024 ** 2);
    rmSync(join(folder, 'workspace'), { recursive: true });
    mkdirSync(join(folder, 'workspace'));
    await restore('s');
    expect([shown(), statSync(file('large')).size, statSync(file('large')).blocks]).toEqual([before, 1024 ** 3, 0]);
  });

  it('leave nothing that could be taken for whole when they fail or are cut short', async () => {
    const failure = take('s', async (copy, until) => {
      await copy(until);
      throw new Error('held for too long');
    });
    await expect(failure).rejects.toThrow('held for too long');
    expect(existsSync(join(root, '.snapshots', 's'))).toBe(false);
    await expect(restore('s')).rejects.toMatchObject({ code: 'NotFound' });
    // What a daemon left that was killed in the middle.
    writeFileSync(join(root, '.snapshots', 's.new', 'rubbish'), 'x');
    expect(await copies.list()).toEqual(['s']);
    await take('s');
    expect(readdirSync(join(root, '.snapshots', 's')).sort()).toEqual(['home', 'workspace']);
    await copies.remove('s');
    expect(await copies.list()).toEqual([]);
  });

  it('do not take a name for a path', async () => {
    await expect(take('../x')).rejects.toThrow('this is no id of a snapshot');
  });
});

describe('a restore that was cut short', () => {
  /** Everything is as it is after so many renames of a restore to `new`, and then the power went. */
  function cutShort(state: 'while copying' | 'before the first' | 'between two' | 'after the last'): void {
    const coming = join(folder, state === 'while copying' ? 'restoring' : 'restored');
    mkdirSync(join(coming, 'workspace', 'deep'), { recursive: true });
    mkdirSync(join(coming, 'home'));
    write('new', coming);
    if (state === 'while copying') rmSync(join(coming, 'home', 'note'));
    if (state === 'while copying' || state === 'before the first') return;
    mkdirSync(join(folder, 'replaced'));
    for (const name of state === 'between two' ? ['home'] : ['home', 'workspace']) {
      renameSync(join(folder, name), join(folder, 'replaced', name));
      renameSync(join(coming, name), join(folder, name));
    }
  }

  it.each([
    ['while copying', 'old'],
    ['before the first', 'new'],
    ['between two', 'new'],
    ['after the last', 'new'],
  ] as const)('%s: the files are whole, and %s', async (state, want) => {
    cutShort(state);
    await finishRestore(folder);
    expect(read()).toEqual([want, want]);
    expect(readdirSync(folder).sort()).toEqual(['home', 'record.json', 'workspace']);
    await finishRestore(folder);
    expect(read()).toEqual([want, want]);
  });

  it('between moving one part away and the other in: it is put in place', async () => {
    cutShort('before the first');
    mkdirSync(join(folder, 'replaced'));
    renameSync(join(folder, 'home'), join(folder, 'replaced', 'home'));
    await finishRestore(folder);
    expect(read()).toEqual(['new', 'new']);
  });
});
