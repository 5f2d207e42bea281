/** Paths of requests to paths of the file system, never out of the workspace. */
import { existsSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { lazy } from './lazy-modules.ts';

const NAMED_ROOT = '/workspace';

/** `root` must be a real path. Throws for a path that does not exist or, links followed, leaves the root. */
export async function resolveInWorkspace(root: string, path: string): Promise<string> {
  const hostPath = toHostPath(root, path);
  // A real path itself: nearly every command runs there, and tasks say so by the name of the root.
  if (hostPath === root && existsSync(root)) return root;
  const real = await lazy.files.realpath(hostPath);
  if (!isInside(root, real)) throw outsideWorkspace(path);
  return real;
}

/** Below the root as it is written; links are not looked at. Relative to the root, empty for the root itself. */
export function relativeInWorkspace(root: string, path: string): string {
  const absolute = toHostPath(root, path);
  if (!isInside(root, absolute)) throw outsideWorkspace(path);
  return relative(root, absolute);
}

export function outsideWorkspace(path: string): ProtocolError {
  return new ProtocolError('Forbidden', `${path} is outside the workspace`);
}

function toHostPath(root: string, path: string): string {
  const absolute = resolve(root, path);
  if (isInside(root, absolute) || !isInside(NAMED_ROOT, absolute)) return absolute;
  return resolve(root, relative(NAMED_ROOT, absolute));
}

export function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root === sep ? root : root + sep);
}
