import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packIfLarge } from './pack.ts';
import { TestRepository } from './repository.fixture.ts';

let work: TestRepository;
let directory: string;
beforeEach(() => {
  work = new TestRepository();
  directory = join(work.directory, '.git');
});
afterEach(() => work.remove());

const objects = () => work.git('cat-file', '--batch-all-objects', '--batch-check').split('\n').sort();
const counted = (what: string) => Number(new RegExp(`^${what}: (\\d+)$`, 'm').exec(work.git('count-objects', '-v'))?.[1]);

/** Paths and bytes of everything that says where work is. */
function memory(): string[] {
  return ['refs', 'logs', 'HEAD'].flatMap((name) => {
    const all = statSync(join(directory, name)).isDirectory() ? readdirSync(join(directory, name), { recursive: true }) : [''];
    return all.map((path) => {
      const file = join(directory, name, String(path));
      return statSync(file).isDirectory() ? file : `${file} ${readFileSync(file, 'utf8')}`;
    });
  });
}

it('packs what is loose and drops nothing: not what only a reflog knows, not what nobody does', async () => {
  const base = work.commit('base', { 'a.txt': 'a\n' });
  for (let index = 0; index < 5; index++) work.commit(`c${index}`, { [`f${index}.txt`]: `${index}\n` });
  work.git('reset', '-q', '--hard', base);
  const nobodys = execFileSync('git', ['-C', work.directory, 'hash-object', '-w', '--stdin'], {
    input: 'nobody\n',
    encoding: 'utf8',
  }).trim();
  const [before, remembered] = [objects(), memory()];
  expect(await packIfLarge({ directory })).toBe(false);
  expect(counted('count')).toBe(before.length);
  expect(await packIfLarge({ directory }, { loose: -1, packs: 50 })).toBe(true);
  expect([counted('count'), counted('packs')]).toEqual([0, 1]);
  expect(objects()).toEqual(before);
  expect(memory()).toEqual(remembered);
  expect(work.git('cat-file', 'blob', nobodys)).toBe('nobody');
  expect(work.git('fsck', '--strict', '--no-dangling')).toBe('');
});

it('joins packs that have become many, with what nobody leads to in them', async () => {
  for (let index = 0; index < 4; index++) {
    work.commit(`c${index}`, { 'f.txt': `${index}\n` });
    work.git('commit', '--amend', '-q', '-m', `again ${index}`);
    work.git('repack', '-q', '-d');
    work.git('prune-packed');
  }
  work.git('reflog', 'expire', '--expire=now', '--all');
  const before = objects();
  expect(await packIfLarge({ directory }, { loose: 1_000_000, packs: 1 })).toBe(true);
  expect(counted('packs')).toBeLessThan(4);
  expect(objects()).toEqual(before);
});
