import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { silentLogger } from '#lib/log.ts';
import { openVault } from './open-vault.ts';
import { refusal, type TestVault, testVault } from './vault.fixture.ts';

let world: TestVault;
let changed: string[];
beforeEach(async () => {
  world = await testVault();
  changed = [];
  world.vault.onForeignChange(({ namespace, team, path }) => changed.push(`${namespace}/${team}/${path}`));
  await world.vault.ensureTeam('default', 'a');
});
afterEach(() => world.end());

const write = (content: string, path = 'tasks/t.md') => world.vault.writeGenerated('default', 'a', path, content);
const file = (path = 'tasks/t.md') => world.at(`teams/a/${path}`);
const told = (paths: readonly string[]) =>
  vi.waitFor(() => expect([...new Set(changed)]).toEqual(paths), { timeout: 10_000, interval: 20 });

it('writes what differs, and leaves alone what does not', async () => {
  expect(await write('one')).toBe(true);
  const before = statSync(file());
  expect(await write('one')).toBe(false);
  expect(statSync(file()).ino).toBe(before.ino);
  expect([await write('two'), readFileSync(file(), 'utf8')]).toEqual([true, 'two']);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});

it('knows after a restart what is there already', async () => {
  await write('one');
  const { ino } = statSync(file());
  await world.vault.close();
  const again = await openVault({ home: world.home, log: silentLogger });
  expect(await again.writeGenerated('default', 'a', 'tasks/t.md', 'one')).toBe(false);
  expect(statSync(file()).ino).toBe(ino);
  await again.close();
});

it('leaves whole files whatever many write at once, nothing in the making, and does not hold up the process for the disk', async () => {
  const contents = Array.from({ length: 40 }, (_, index) => `${index} `.repeat(2_000));
  let turns = 0;
  const count = () => {
    turns += 1;
    if (turns > 0) timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const written = await Promise.all(
    contents.flatMap((content, index) => ['', content].map((text) => write(text, `tasks/t${index % 4}.md`))),
  );
  clearImmediate(timer);
  expect(written.every((isNew) => isNew)).toBe(true);
  expect([0, 1, 2, 3].map((index) => readFileSync(file(`tasks/t${index}.md`), 'utf8'))).toEqual(contents.slice(-4));
  expect(readdirSync(world.at('.agentiso'))).toEqual([]);
  // Others had their turn between any two of them.
  expect(turns).toBeGreaterThan(written.length);
  expect(changed).toEqual([]);
});

it('tells when somebody else changes or removes a file, and is silent about its own writes', async () => {
  for (const path of ['tasks/t.md', 'tasks/u.md', 'tasks/INDEX.md', 'cards/c.json']) await write('one', path);
  for (let round = 0; round < 20; round++) await write(`round ${round}`, 'tasks/own.md');
  appendFileSync(file(), 'more');
  await told(['default/a/tasks/t.md']);
  rmSync(file('tasks/u.md'));
  await told(['default/a/tasks/t.md', 'default/a/tasks/u.md']);
  writeFileSync(file('cards/c.json'), '{}');
  await told(['default/a/tasks/t.md', 'default/a/tasks/u.md', 'default/a/cards/c.json']);
  expect(await write('one')).toBe(true);
  expect(readFileSync(file(), 'utf8')).toBe('one');
});

it('does not mind a file that was only touched, nor files of others beside its own', async () => {
  await write('one');
  await write('one', 'tasks/u.md');
  utimesSync(file(), new Date(0), new Date(0));
  writeFileSync(file('tasks/mine.md'), 'mine');
  rmSync(file('tasks/u.md'));
  await told(['default/a/tasks/u.md']);
});

it('does not tell twice of what is then put back', async () => {
  await write('one');
  writeFileSync(file(), 'foreign');
  await vi.waitFor(() => expect(changed.length).toBeGreaterThan(0), { timeout: 10_000, interval: 20 });
  const before = changed.length;
  expect(await write('one')).toBe(true);
  await write('one', 'tasks/u.md');
  rmSync(file('tasks/u.md'));
  await told(['default/a/tasks/t.md', 'default/a/tasks/u.md']);
  expect(changed.filter((path) => path === 'default/a/tasks/t.md')).toHaveLength(before);
});

it('tells of a change that its own next write covered', async () => {
  await write('one');
  writeFileSync(file(), 'foreign');
  expect(await write('two')).toBe(true);
  await told(['default/a/tasks/t.md']);
});

it('notices when the whole folder went, and watches the one that comes back', async () => {
  await write('one');
  rmSync(file('tasks'), { recursive: true });
  await told(['default/a/tasks/t.md']);
  expect(await write('one')).toBe(true);
  changed = [];
  writeFileSync(file(), 'foreign');
  await told(['default/a/tasks/t.md']);
});

it('finds by looking what no watch tells: a change through another name of the file', async () => {
  const looking = await openVault({ home: world.home, log: silentLogger, lookMs: 20 });
  const found: string[] = [];
  looking.onForeignChange(({ path }) => found.push(path));
  await looking.writeGenerated('default', 'a', 'tasks/t.md', 'one');
  linkSync(file(), join(world.home, 'other-name'));
  writeFileSync(join(world.home, 'other-name'), 'foreign');
  await vi.waitFor(() => expect(found).toContain('tasks/t.md'), { timeout: 10_000, interval: 20 });
  expect(await looking.writeGenerated('default', 'a', 'tasks/t.md', 'one')).toBe(true);
  expect(readFileSync(file(), 'utf8')).toBe('one');
  await looking.close();
});

it('writes through no link that somebody put in its place', async () => {
  const outside = join(world.home, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'precious'), 'precious');
  symlinkSync(join(outside, 'precious'), file());
  expect(await write('one')).toBe(true);
  expect(readFileSync(join(outside, 'precious'), 'utf8')).toBe('precious');
  rmSync(file('tasks'), { recursive: true });
  symlinkSync(outside, file('tasks'));
  expect(await refusal(write('two'))).toBe('Invalid: teams/a/tasks is no folder');
});

it('removes what it wrote, and lists what is there', async () => {
  await write('one');
  await write('one', 'tasks/u.md');
  await world.vault.removeGenerated('default', 'a', 'tasks/t.md');
  await world.vault.removeGenerated('default', 'a', 'tasks/t.md');
  await world.vault.removeGenerated('default', 'nobody', 'tasks/t.md');
  expect(await world.vault.generatedIn('default', 'a', 'tasks')).toEqual(['tasks/u.md']);
  expect(await world.vault.generatedIn('default', 'nobody', 'tasks')).toEqual([]);
  rmSync(file('tasks/u.md'));
  await told(['default/a/tasks/u.md']);
});
