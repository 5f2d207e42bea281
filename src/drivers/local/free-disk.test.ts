import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { requireRoom, roomProblem } from './free-disk.ts';

const GIB = 1024 ** 3;

it('leaves a GiB to everybody else', async () => {
  expect(roomProblem(3 * GIB, 2 * GIB, 'a snapshot')).toBeUndefined();
  expect(roomProblem(3 * GIB - 1, 2 * GIB, 'a snapshot')).toBe(
    'a snapshot may take 2048 MiB, and of the 3072 MiB that are free 1024 MiB are to stay so',
  );
  await requireRoom(tmpdir(), 1, 'next to nothing');
  await expect(requireRoom(tmpdir(), 1e18, 'everything')).rejects.toMatchObject({ code: 'QuotaExceeded' });
});
