import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { codex } from './codex.ts';
import { pruneReleases } from './prune.ts';
import { folderOf } from './tool-places.ts';

let tools: string;
beforeEach(() => {
  tools = mkdtempSync(join(tmpdir(), 'agentiso-prune-'));
});
afterEach(() => rmSync(tools, { recursive: true }));

const { signal } = new AbortController();
const prune = () => pruneReleases({ tools, signal });

function add(name: string): string {
  const folder = join(tools, name);
  mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  return folder;
}

it('removes other releases and what was left half done, and nothing else', async () => {
  const present = folderOf(tools, codex);
  const kept = [present, join(tools, 'acp'), join(tools, 'mine@1.0.0')];
  for (const folder of kept) mkdirSync(folder, { recursive: true });
  const gone = ['codex@0.0.1+0.0.2', 'qwen@0.0.3', '.installing-codex@0.0.4', '.removing-droid@0.0.5'].map(add);
  expect((await prune()).map(({ folder }) => folder).sort()).toEqual([...gone].sort());
  for (const folder of gone) expect(existsSync(folder)).toBe(false);
  expect(
    readdirSync(tools)
      .filter((name) => !name.startsWith('.'))
      .map((name) => join(tools, name))
      .sort(),
  ).toEqual([...kept].sort());
  expect(await prune()).toEqual([]);
});

it('keeps a release that a process runs from', async () => {
  const folder = add('codex@0.0.1');
  const program = join(folder, 'node_modules', '.bin', 'sleep');
  copyFileSync('/bin/sleep', program);
  const child = spawn(program, ['60'], { stdio: 'ignore' });
  await once(child, 'spawn');
  expect(await prune()).toEqual([{ folder, usedBy: child.pid }]);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(await prune()).toEqual([{ folder }]);
  expect(existsSync(folder)).toBe(false);
});

it('has nothing to do where there is no directory', async () => {
  expect(await pruneReleases({ tools: join(tools, 'nowhere'), signal })).toEqual([]);
});
