import { existsSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { DiskSync } from './disk-sync.ts';
import { type Helper, startHelper } from './helper.ts';

const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
/** Has nothing to bring to any disk. */
const PLACE = '/proc';

it('asks the kernel, by another helper when somebody has ended the one it had', async () => {
  const start = vi.fn(() => startHelper(PATH));
  const disk = new DiskSync(start);
  await disk.sync();
  expect(start).not.toHaveBeenCalled();
  const first = startHelper(PATH);
  disk.begin(first, PLACE);
  await disk.sync();
  await disk.sync();
  expect(start).not.toHaveBeenCalled();
  // No line that it waits for.
  first.tell(['']);
  first.tell(['00']);
  await vi.waitFor(async () => {
    await disk.sync();
    expect(start).toHaveBeenCalledOnce();
  });
  start.mock.results[0]?.value.end();
});

it('says what the kernel says', async () => {
  expect(existsSync('/nowhere')).toBe(false);
  const disk = new DiskSync(() => startHelper(PATH));
  disk.begin(startHelper(PATH), '/nowhere');
  await expect(disk.sync()).rejects.toThrow('what was written may not be on the disk: No such file or directory');
});

it('begins for nobody before he came, and once for all who came meanwhile', async () => {
  const answers: (() => void)[] = [];
  const tell = vi.fn();
  const helper: Helper = { tell, said: () => new Promise((resolve) => answers.push(resolve)), end: () => {} };
  const disk = new DiskSync(() => helper);
  disk.begin(helper, PLACE);
  const done: string[] = [];
  const sync = (name: string) => disk.sync().then(() => done.push(name));
  const all = [sync('first')];
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  all.push(sync('second'), sync('third'));
  answers.shift()?.();
  await vi.waitFor(() => expect(answers).toHaveLength(1));
  expect(done).toEqual(['first']);
  answers.shift()?.();
  await Promise.all(all);
  expect([done, tell.mock.calls.length]).toEqual([['first', 'second', 'third'], 2]);
});
