/** A directory that a person gave to be followed: checked at the start, and named as the manager of the fields it sets. */
import { createHash } from 'node:crypto';
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, relative, resolve, sep } from 'node:path';
import { AgentisoError, InvalidError, messageOf } from '#lib/errors.ts';

export interface ManifestDirectory {
  /** Absolute, as it was given: a link that is moved to the next revision stays the same directory. */
  readonly path: string;
  readonly fieldManager: string;
}

const PREFIX = 'dir:';
/** Of the 128 characters that a manager's name may have, after `dir:` and before `-` and the hash. */
const MAX_BASENAME = 100;

/** The same over restarts, and different for equal names in different places. */
export function fieldManagerOf(path: string): string {
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 8);
  const name = basename(path)
    .replace(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, MAX_BASENAME);
  return `${PREFIX}${name}-${hash}`;
}

export function isDirectory(fieldManager: string): boolean {
  return fieldManager.startsWith(PREFIX);
}

export function directoriesOf(given: readonly string[]): ManifestDirectory[] {
  const paths = new Set(given.map((path) => resolve(path)));
  return [...paths].map((path) => ({ path, fieldManager: fieldManagerOf(path) }));
}

/** Throws an explanation for one that cannot be read, or that holds the store's own files. */
export function checkDirectories(given: readonly string[], { home }: { readonly home: string }): void {
  for (const { path } of directoriesOf(given)) {
    checkReadable(path);
    checkApart(path, home);
  }
}

function checkReadable(path: string): void {
  try {
    if (!statSync(path).isDirectory()) throw new InvalidError(`${path} is not a directory`, [], { hint: 'give a directory of manifests' });
    accessSync(path, constants.R_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof AgentisoError) throw error;
    throw new AgentisoError('NotFound', `${path} ${whyUnreadable(error)}`, {
      cause: error,
      hint: 'give a directory of manifests that exists',
    });
  }
}

/** In the same words whichever call found out. */
export function whyUnreadable(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  return code === 'EACCES' || code === 'EPERM' ? 'cannot be read: permission denied' : `cannot be read: ${messageOf(error)}`;
}

/** The store writes what it is told: following its files would feed it its own output. */
function checkApart(path: string, home: string): void {
  const real = realpathSync(path);
  const store = realOrResolved(home);
  const inward = relative(real, store);
  const isHomeSeen = !inward.startsWith('..') && !inward.split(sep).some((name) => name.startsWith('.'));
  const isInHome = isInside(store, real);
  if (!isHomeSeen && !isInHome) return;
  throw new InvalidError(
    `${path} cannot be followed: it ${isInHome ? 'lies in' : 'holds'} ${home}, where the store keeps its own files`,
    [],
    {
      hint: 'keep manifests in a directory of their own',
    },
  );
}

function realOrResolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
