import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { formerHomes as find } from './former-homes.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-places-'));
  mkdirSync(join(folder, 'a', 'state'), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);
const formerHomes = (home: string) => find(home, silentLogger);

it('are those it was moved from, until something is there again', () => {
  expect(formerHomes(at('a'))).toEqual([]);
  expect(formerHomes(at('a'))).toEqual([]);
  renameSync(at('a'), at('b'));
  expect(formerHomes(at('b'))).toEqual([at('a')]);
  renameSync(at('b'), at('c'));
  expect(formerHomes(at('c'))).toEqual([at('a'), at('b')]);
  mkdirSync(at('a'));
  expect(formerHomes(at('c'))).toEqual([at('b')]);
  rmSync(at('a'), { recursive: true });
  renameSync(at('c'), at('a'));
  expect(formerHomes(at('a'))).toEqual([at('b'), at('c')]);
});

it('are none where the file is damaged, which is then written anew', () => {
  const file = join(at('a'), 'state', 'places.json');
  for (const text of ['', '{', '{"a":1}', '[1]']) {
    writeFileSync(file, text);
    expect(formerHomes(at('a'))).toEqual([]);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([at('a')]);
  }
});

it('are none where the file cannot be read, which stops nobody', () => {
  const file = join(at('a'), 'state', 'places.json');
  mkdirSync(file);
  expect(formerHomes(at('a'))).toEqual([]);
});
