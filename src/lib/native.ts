/**
 * System calls that Node does not offer. The store cannot do without a lock that dies with its holder, an exchange of two names
 * that can lose neither file, a way to know that nobody else has a file open, and one flush for a whole file system; drivers
 * cannot do without descriptors that end at a program's start.
 */
import { linkSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { AgentisoError } from './errors.ts';

interface Calls {
  readonly flock: (fd: number, operation: number) => number;
  readonly renameat2: (oldDir: number, oldPath: string, newDir: number, newPath: string, flags: number) => number;
  readonly fcntl: (fd: number, command: number, argument: number) => number;
  readonly syncfs: (fd: number) => Promise<number>;
  readonly errno: () => number;
}

const LOCK_EX_NB = 2 | 4;
const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;
const F_SETFD = 2;
const F_SETSIG = 10;
const F_SETLEASE = 1024;
const F_RDLCK = 0;
const F_WRLCK = 1;
const F_UNLCK = 2;
const FD_CLOEXEC = 1;
const SIGURG = 23;
const EAGAIN = 11;
const ENOENT = 2;
const ENOSYS = 38;
const EINVAL = 22;

let loaded: Calls | undefined;

function calls(): Calls {
  loaded ??= load();
  return loaded;
}

function load(): Calls {
  // Loaded on first use and not imported: commands that touch no store and start no sandbox should not pay for it.
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const library = koffi.load(null);
  const syncfs = library.func('int syncfs(int)');
  return {
    flock: library.func('int flock(int, int)'),
    renameat2: library.func('int renameat2(int, const char *, int, const char *, unsigned int)'),
    // Declared with its one int: on Linux it travels the same way as a variable argument, and the call costs a third.
    fcntl: library.func('int fcntl(int, int, int)'),
    syncfs: promisify((fd: number, done: (error: unknown, result: number) => void) => syncfs.async(fd, done)),
    errno: () => koffi.errno(),
  };
}

/** Takes the whole-file lock without waiting; false when somebody else holds it. The kernel lets go when the fd closes. */
export function tryLock(fd: number): boolean {
  if (calls().flock(fd, LOCK_EX_NB) === 0) return true;
  const errno = calls().errno();
  if (errno === EAGAIN) return false;
  throw new AgentisoError('IoError', `flock failed with errno ${errno}`);
}

/**
 * Puts `fresh` at `target` and leaves what was at `target` under the name `fresh`, in one step: whoever wrote `target` last,
 * nothing of theirs is gone. False when there is no `target`. Where the file system cannot exchange, a hard link
 * keeps the old file and a few microseconds stay open.
 */
export function exchange(fresh: string, target: string): boolean {
  if (calls().renameat2(AT_FDCWD, fresh, AT_FDCWD, target, RENAME_EXCHANGE) === 0) return true;
  const errno = calls().errno();
  if (errno === ENOENT) return false;
  if (errno !== EINVAL && errno !== ENOSYS) throw new AgentisoError('IoError', `renameat2 ${target} failed with errno ${errno}`);
  const kept = `${fresh}.kept`;
  linkSync(target, kept);
  renameSync(fresh, target);
  renameSync(kept, fresh);
  return true;
}

/**
 * Whether `fd` is the only open handle on its file, which must be ours. Undefined where the file system cannot tell.
 * It leaves a lease on the file, which goes with the handle: close it soon.
 */
export function isOnlyHandle(fd: number): boolean | undefined {
  // Whoever opens the file meanwhile waits until we let go, and we are told by a signal: one that kills nobody.
  calls().fcntl(fd, F_SETSIG, SIGURG);
  // A write lease is granted exactly then.
  if (calls().fcntl(fd, F_SETLEASE, F_WRLCK) === 0) return true;
  return calls().errno() === EAGAIN ? false : undefined;
}

/** Whether somebody has the file of `fd`, which must be open for reading only, open for writing. False where that cannot be told. */
export function isBeingWritten(fd: number): boolean {
  calls().fcntl(fd, F_SETSIG, SIGURG);
  // A read lease is granted exactly when nobody has.
  const isRefused = calls().fcntl(fd, F_SETLEASE, F_RDLCK) !== 0 && calls().errno() === EAGAIN;
  calls().fcntl(fd, F_SETLEASE, F_UNLCK);
  return isRefused;
}

/** Everything written so far on the file system of `fd` is on disk when this resolves. On a thread of its own: it may take long. */
export async function syncFileSystem(fd: number): Promise<void> {
  if ((await calls().syncfs(fd)) !== 0) throw new AgentisoError('IoError', 'syncfs failed');
}

/** No program that is started from here on gets `fd`. One that is not open any more is nothing to worry about. */
export function closeOnExec(fd: number): void {
  calls().fcntl(fd, F_SETFD, FD_CLOEXEC);
}
