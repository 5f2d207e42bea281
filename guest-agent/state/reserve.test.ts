import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Journal } from './journal.ts';
import { isFull, RESERVE_BYTES, Reserve } from './reserve.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'agentiso-reserve-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('is there until it is given up, once', async () => {
  const reserve = new Reserve(folder);
  const path = join(folder, 'reserve');
  for (let round = 0; round < 2; round++) {
    await reserve.keep();
    await reserve.keep();
    expect(statSync(path).size).toBe(RESERVE_BYTES);
    expect([await reserve.spend(), await reserve.spend(), existsSync(path)]).toEqual([true, false, false]);
  }
  await reserve.keep();
  truncateSync(path, 1);
  await reserve.keep();
  expect(statSync(path).size).toBe(RESERVE_BYTES);
});

it('of a full disk is not left half made', async () => {
  symlinkSync('/dev/full', join(folder, 'reserve'));
  await new Reserve(folder).keep();
  expect(existsSync(join(folder, 'reserve'))).toBe(false);
});

it('gives a journal the room to take what it would have to refuse', async () => {
  const path = join(folder, 'lines');
  const open = (onFull?: () => Promise<boolean>) => {
    const kept: string[] = [];
    const apply = (record: string) => void kept.push(record);
    return new Journal<string>({ path, parse: String, apply, snapshot: () => kept, warn: () => {}, ...(onFull && { onFull }) });
  };
  const without = open();
  const onFull = vi.fn(async () => {
    rmSync(path);
    return true;
  });
  const journal = open(onFull);
  // Opened by the first that is to be written.
  symlinkSync('/dev/full', path);
  await expect(without.append('refused')).rejects.toSatisfy(isFull);
  await journal.append('taken');
  await journal.append('next');
  await journal.close();
  expect(onFull).toHaveBeenCalledOnce();
  expect(readFileSync(path, 'utf8').split(/\s+/).filter(Boolean)).toEqual(['"taken"', '"next"']);
});
