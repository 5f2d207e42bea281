import { describe, expect, it } from 'vitest';
import { NotFoundError } from '#lib/errors.ts';
import { explainingDisk } from './disk-errors.ts';

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(`${code}: no, open '/i/lock'`), { code }));

describe('explainingDisk', () => {
  it.each(['EACCES', 'EROFS', 'ENOSPC'])('says what to do about %s', async (code) => {
    await expect(explainingDisk('/i', failing(code))).rejects.toMatchObject({
      code: 'IoError',
      message: `the images directory /i cannot be written to: ${code}: no, open '/i/lock'`,
      hint: expect.stringContaining('AGENTISO_IMAGES'),
    });
  });

  it('leaves other errors alone', async () => {
    await expect(explainingDisk('/i', failing('EBADF'))).rejects.toMatchObject({ code: 'EBADF' });
    await expect(explainingDisk('/i', () => Promise.reject(new NotFoundError('x')))).rejects.toThrow(NotFoundError);
    expect(await explainingDisk('/i', async () => 1)).toBe(1);
  });
});
