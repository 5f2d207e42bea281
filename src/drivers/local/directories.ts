/**
 * Makes and removes the directories of one workspace. What is made and looked at, is so at once: it takes microseconds, and to hand each of
 * these calls to a thread and back costs ten times as much. What is removed may be large.
 */
import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { AgentisoError } from '#lib/errors.ts';
import { socketIn, type WorkspacePaths } from './paths.ts';

const PRIVATE = { recursive: true, mode: 0o700 } as const;

/** For a start: whatever socket an earlier incarnation left is gone, so a socket that is there is one somebody listens on. */
export async function ensureDirectories(paths: WorkspacePaths): Promise<void> {
  for (const path of [paths.directory, paths.state, paths.run]) mkdirSync(path, PRIVATE);
  if (!paths.run.startsWith(`${paths.directory}/`)) checkPrivate(paths.run);
  for (const port of ['control', 'relay'] as const) {
    const socket = socketIn(paths.run, port);
    // The guest could put anything of any size there.
    if (lstatSync(socket, { throwIfNoEntry: false }) !== undefined) await rm(socket, { force: true, recursive: true });
  }
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
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** In a shared temporary directory somebody else may have been first. */
function checkPrivate(directory: string): void {
  const { uid, mode } = lstatSync(directory);
  const isPrivate = (mode & 0o170077) === 0o040000;
  if (uid !== process.getuid?.() || !isPrivate)
    throw new AgentisoError('Forbidden', `${directory} belongs to somebody else`, { reason: 'SocketDirectoryTaken' });
}
