/** Makes and removes the directories of one workspace. */
import { lstat, mkdir, rm, stat } from 'node:fs/promises';
import { AgentisoError } from '#lib/errors.ts';
import type { WorkspacePaths } from './paths.ts';

const PRIVATE = { recursive: true, mode: 0o700 } as const;

export async function ensureDirectories(paths: WorkspacePaths): Promise<void> {
  await mkdir(paths.workspace, PRIVATE);
  await mkdir(paths.socketDirectory, PRIVATE);
  await checkPrivate(paths.socketDirectory);
  await rm(paths.socket, { force: true });
}

/** A socket nobody listens on is of no use; it may stand in a shared temporary directory. */
export async function removeSocket(paths: WorkspacePaths): Promise<void> {
  await rm(paths.socketDirectory, { recursive: true, force: true });
}

/** The socket goes before the directory: whoever finds the directory gone finds nothing else either. */
export async function removeDirectories(paths: WorkspacePaths): Promise<void> {
  await removeSocket(paths);
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
