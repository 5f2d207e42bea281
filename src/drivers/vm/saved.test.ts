import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { discard, isSaved, save, savedFiles, savedState } from './saved.ts';

let folder: string;
let image: { kernel: string; initrd: string; root: string };
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-saved-'));
  image = { kernel: join(folder, 'k'), initrd: join(folder, 'i'), root: join(folder, 'r') };
  for (const path of Object.values(image)) writeFileSync(path, path);
});
afterEach(() => rmSync(folder, { recursive: true }));

it('is there when all of it is, with the files of the machine, and gone at once', async () => {
  mkdirSync(join(folder, 'saved.new'));
  let wasSaved: boolean | undefined;
  await save(folder, image, async (path) => {
    writeFileSync(path, 'state');
    wasSaved = isSaved(folder);
  });
  expect([wasSaved, isSaved(folder)]).toEqual([false, true]);
  expect(savedState(folder)).toEqual({ path: join(folder, 'saved', 'state'), bytes: 5 });
  // Somebody may remove the image meanwhile.
  unlinkSync(image.root);
  expect(readFileSync(savedFiles(folder).root, 'utf8')).toBe(image.root);
  expect(savedFiles(folder).tools).toBeUndefined();
  await discard(folder);
  await discard(folder);
  expect([isSaved(folder), readdirSync(folder)]).toEqual([false, ['i', 'k']]);
});

it('leaves nothing of what could not be written, nor of what a crash has cut short', async () => {
  const failing = save(folder, image, async (path) => {
    writeFileSync(path, 'half');
    throw new Error('no room');
  });
  await expect(failing).rejects.toThrow('no room');
  expect(readdirSync(folder)).toEqual(['i', 'k', 'r']);
  for (const name of ['saved.new', 'saved.old']) mkdirSync(join(folder, name));
  expect(isSaved(folder)).toBe(false);
  await discard(folder);
  expect(existsSync(join(folder, 'saved.old'))).toBe(false);
});
