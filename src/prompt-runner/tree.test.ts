import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Tree } from './tree.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agentiso-tree-'));
  mkdirSync(join(root, 'src'));
  for (const name of ['a', 'src/b']) writeFileSync(join(root, name), name);
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (name: string, content: string) => writeFileSync(join(root, name), content);

it('counts files that came, went and changed, and is the same for the same contents', async () => {
  const tree = await Tree.remember(root);
  const before = await tree.state();
  expect(before.filesChanged).toBe(0);
  write('a', 'other');
  write('src/new', 'new');
  rmSync(join(root, 'src/b'));
  const changed = await tree.state();
  expect([changed.filesChanged, [...changed.changed].sort()]).toEqual([3, ['a', 'src/b', 'src/new']]);
  expect(changed.hash).not.toBe(before.hash);
  write('src/new', 'new');
  expect((await tree.state()).hash).toBe(changed.hash);
  write('src/new', 'newer');
  expect((await tree.state()).hash).not.toBe(changed.hash);
});

it('does not look into what git keeps and what is installed, but sees a commit', async () => {
  for (const folder of ['.git/refs/heads', 'node_modules/x']) mkdirSync(join(root, folder), { recursive: true });
  write('.git/HEAD', 'ref: refs/heads/main\n');
  const tree = await Tree.remember(root);
  write('node_modules/x/y', '');
  write('.git/index', '');
  expect((await tree.state()).filesChanged).toBe(0);
  write('.git/refs/heads/main', 'c0ffee\n');
  expect((await tree.state()).changed).toEqual(['.git/HEAD']);
});
