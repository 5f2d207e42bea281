/** One daemon per directory: an flock on a file that names its holder. The kernel frees it when the holder dies, however it dies. */
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { UnavailableError } from '#lib/errors.ts';
import { tryLock } from '#lib/native.ts';

export interface DirectoryLock {
  /** False when the file is gone or another one stands in its place: whoever locks that one believes to be alone. */
  isInPlace(): boolean;
  release(): void;
}

export function lockDirectory(path: string): DirectoryLock {
  const fd = openSync(path, 'a+', 0o600);
  if (!tryLock(fd)) {
    closeSync(fd);
    const holder = readFileSync(path, 'utf8').trim() || 'unknown';
    throw new UnavailableError(`another agentiso (pid ${holder}) already runs on this directory; lock file ${path}`, {
      reason: 'DirectoryLocked',
      hint: 'stop that process, or use another directory with --home DIR',
    });
  }
  ftruncateSync(fd);
  writeSync(fd, `${process.pid}\n`);
  const { ino } = fstatSync(fd);
  return {
    isInPlace: () => statSync(path, { throwIfNoEntry: false })?.ino === ino,
    release: () => closeSync(fd),
  };
}
