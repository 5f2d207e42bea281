import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { evictCaches } from './caches.ts';

const MIB = 1024 ** 2;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-caches-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** One MiB each: a folder with a file in it, or the file itself. */
function made(path: string, usedAt: number, isFolder = false): string {
  mkdirSync(isFolder ? path : join(path, '..'), { recursive: true });
  writeFileSync(isFolder ? join(path, 'memory') : path, Buffer.alloc(MIB, 1));
  utimesSync(path, usedAt, usedAt);
  return path;
}

it('lets the longest unused go, whatever it is, and neither what is new nor what is not finished', async () => {
  const [templates, tools] = [join(folder, 'templates'), join(folder, 'tools')];
  const newest = made(join(templates, 'new'), 0, true);
  const unfinished = made(join(tools, 'b~2.ext4.new'), 0);
  const oldDisk = made(join(tools, 'a~1.ext4'), 1);
  const oldTemplate = made(join(templates, 'old'), 2, true);
  const usedDisk = made(join(tools, 'b~1.ext4'), 3);
  let budgetBytes = 2.5 * MIB;
  const caches = { directories: [templates, tools, join(folder, 'none')], budgetBytes: () => budgetBytes };
  const left = () => [newest, unfinished, oldDisk, oldTemplate, usedDisk].filter(existsSync);
  await evictCaches(caches, newest);
  expect(left()).toEqual([newest, unfinished, usedDisk]);
  budgetBytes = 1;
  await evictCaches(caches, newest);
  expect(left()).toEqual([newest, unfinished]);
});
