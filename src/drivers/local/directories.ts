/** Makes and removes the directories of one workspace. */
import { lstat, mkdir, rm, stat } from 'node:fs/promises';
import { AgentisoError } from '#lib/errors.ts';
import { socketIn, type WorkspacePaths } from './paths.ts';
import { sideBySide } from './side-by-side.ts';

const PRIVATE = { recursive: true, mode: 0o700 } as const;

/** For a start: whatever socket an earlier incarnation left is gone, so a socket that is there is one somebody listens on. */
export async function ensureDirectories(paths: WorkspacePaths): Promise<void> {
  await mkdir(paths.directory, PRIVATE);
  await sideBySide([mkdir(paths.state, PRIVATE), mkdir(paths.run, PRIVATE)]);
  if (!paths.run.startsWith(`${paths.directory}/`)) await checkPrivate(paths.run);
  const ports = ['control', 'relay'] as const;
  await sideBySide(ports.map((port) => rm(socketIn(paths.run, port), { force: true, recursive: true })));
}

/** A socket nobody listens on is of no use; it may stand in a shared temporary directory. */
export async function removeRun(paths: WorkspacePaths): Promise<void> {
  await rm(paths.run, { recursive: true, force: true });
}

/** The sockets go before the directory: whoever finds the directory gone finds nothing else either. */
export async function removeDirectories(paths: WorkspacePaths): Promise<void> {
  await removeRun(paths);
  await rm(paths.directory, { recursive: true, force: true });
}

export async function isPresent(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** In a shared temporary directory somebody else may have been first. */
async function checkPrivate(directory: string): Promise<void> {
  const { uid, mode } = await lstat(directory);
  const isPrivate = (mode & 0o170077) === 0o040000;
  if (uid !== process.getuid?.() || !isPrivate)
    throw new AgentisoError('Forbidden', `${directory} belongs to somebody else`, { reason: 'SocketDirectoryTaken' });
}
