/** What keeps a home from being written to. Seen without writing: it may be asked at any time, by anybody. */
import { accessSync, closeSync, constants, openSync, statfsSync } from 'node:fs';
import { errnoOf } from '#lib/process-identity.ts';

/** A journal, a mailbox and a result have to fit. */
const LEAST_BYTES = 1024 * 1024;

const WORDS: Readonly<Record<string, string>> = {
  EROFS: 'it is on a disk that can only be read',
  EACCES: 'it belongs to somebody else',
  EPERM: 'it belongs to somebody else',
  ENOENT: 'it is gone',
  EMFILE: 'this process may not open more files',
  ENFILE: 'this machine may not open more files',
};

/** Undefined: nothing does. No path: whoever asks need not say who they are. */
export function homeProblem(home: string): string | undefined {
  try {
    closeSync(openSync(home, 'r'));
    accessSync(home, constants.W_OK);
    return fullness(home);
  } catch (error) {
    const code = errnoOf(error) ?? 'unknown';
    return `the home cannot be written: ${WORDS[code] ?? code}`;
  }
}

function fullness(home: string): string | undefined {
  const { bavail, bfree, bsize, files, ffree } = statfsSync(home);
  // Some of a disk is kept for the administrator.
  const bytes = (process.getuid?.() === 0 ? bfree : bavail) * bsize;
  if (bytes < LEAST_BYTES) return `the disk of the home is full: ${Math.floor(bytes / 1024)} KiB are left`;
  // File systems that do not count them say 0 of 0.
  return files > 0 && ffree === 0 ? 'the disk of the home is full: it takes no more files' : undefined;
}
