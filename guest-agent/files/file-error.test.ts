import { expect, it } from 'vitest';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { toFileError } from './file-error.ts';

const failed = (code: string) => Object.assign(new Error(`${code}: busy, rename '/real/place'`), { code, syscall: 'rename' });

it.each([
  { name: 'what is known', error: failed('ENOSPC'), want: { code: 'Unavailable', message: 'a/b does not fit: the disk is full' } },
  { name: 'what nobody foresaw', error: failed('EBUSY'), want: { code: 'IoError', message: 'a/b cannot be used: EBUSY' } },
])('says $name without the place it really happened at', ({ error, want }) => {
  expect(toFileError(error, 'a/b')).toMatchObject(want);
});

it.each([new ProtocolError('Conflict', 'ours'), new Error('a bug'), undefined])('leaves everything else as it is: %s', (error) => {
  expect(toFileError(error, 'a/b')).toBe(error);
});
