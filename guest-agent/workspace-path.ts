/** Paths of requests to paths of the file system, never out of the workspace. */
import { realpath } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';

const NAMED_ROOT = '/workspace';

/** `root` must be a real path. Throws for a path that does not exist or, links followed, leaves the root. */
export async function resolveInWorkspace(root: string, path: string): Promise<string> {
  const real = await realpath(toHostPath(root, path));
  if (!isInside(root, real)) throw new Error(`${path} is outside the workspace`);
  return real;
}

function toHostPath(root: string, path: string): string {
  const absolute = resolve(root, path);
  if (isInside(root, absolute) || !isInside(NAMED_ROOT, absolute)) return absolute;
  return resolve(root, relative(NAMED_ROOT, absolute));
}

function isInside(root: string, path: string): boolean {
  return path === root || path.startsWith(root === sep ? root : root + sep);
}
