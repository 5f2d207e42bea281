import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { savedBytes, savedRoom } from './saved-room.ts';

const MIB = 1024 ** 2;
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agentiso-room-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function put(...path: string[]): void {
  const folder = join(root, ...path.slice(0, -1));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, path.at(-1) ?? ''), Buffer.alloc(MIB, 1));
}

it('counts what people have kept, of all drivers, and refuses what is too much with the numbers', async () => {
  put('sandbox', '.snapshots', 'one', 'home', 'file');
  put('vm', '.snapshots', 'two', 'disk.ext4');
  put('vm', 'agent', 'saved', 'state');
  // Neither made by people nor theirs alone.
  put('vm', 'agent', 'saved', 'root');
  put('vm', '.templates', 'key', 'memory');
  put('vm', 'acceleration.json');
  expect(Math.round((await savedBytes(root)) / MIB)).toBe(3);
  let maxSavedMiB = 5;
  const room = savedRoom({ root, maxSavedMiB: () => maxSavedMiB });
  await room(MIB, 'a snapshot');
  maxSavedMiB = 3;
  await expect(room(MIB, 'a snapshot')).rejects.toMatchObject({
    code: 'QuotaExceeded',
    message: expect.stringMatching(
      /^a snapshot may take 1 MiB, and of limits\.maxSavedMiB 3 snapshots and suspended machines have [34]; delete snapshots/,
    ),
  });
});
