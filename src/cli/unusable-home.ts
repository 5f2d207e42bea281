/** A daemon that cannot start because of where it should keep its things: one line that says why, and what to do. */
import { existsSync, lstatSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ownerOf } from '#client/owner.ts';
import { AgentisoError } from '#lib/errors.ts';

export async function onHome<T>(home: string, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const problem = homeProblem(error, home);
    throw problem === undefined ? error : new AgentisoError('IoError', problem, { reason: 'HomeUnusable', cause: error });
  }
}

/** Undefined when the error is about something else. */
export function homeProblem(error: unknown, home: string): string | undefined {
  const { code = '', path, syscall } = causeOf(error);
  const isElsewhere = path === undefined ? syscall === 'listen' || syscall === 'bind' : !isAround(resolve(path), resolve(home));
  if (isElsewhere || !Object.hasOwn(REASONS, code) || (code === 'ENOENT' && existsSync(home))) return undefined;
  const reason = REASONS[code]?.(nearestExisting(resolve(path ?? home)), home);
  return `${reason}; ${FULL.includes(code) ? 'make room, or ' : ''}choose another one with --home DIR`;
}

/** Errors of ours say what they are about, but not all of them that a full disk ends a start. */
function causeOf(error: unknown): Partial<NodeJS.ErrnoException> {
  const cause = error instanceof AgentisoError ? (error.cause as NodeJS.ErrnoException | undefined) : (error as NodeJS.ErrnoException);
  return error instanceof AgentisoError && !FULL.includes(cause?.code ?? '') ? {} : (cause ?? {});
}

function isAround(path: string, home: string): boolean {
  return `${path}/`.startsWith(`${home}/`) || `${home}/`.startsWith(`${path}/`);
}

const FULL = ['ENOSPC', 'EDQUOT'];

type Reason = (existing: string, home: string) => string;

const isFile: Reason = (existing, home) =>
  statSync(existing).isDirectory() ? `${home} cannot be made a folder` : `${existing} is a file, not a folder`;
const isForbidden: Reason = (existing) => {
  const owner = ownerOf(existing);
  return `${existing} cannot be written to${owner ? `: it belongs to ${owner}` : ''}`;
};
/** Only a link that leads nowhere is there and does not exist. */
const isNowhere: Reason = (existing, home) => {
  const below = relative(existing, resolve(home)).split(sep)[0] ?? '';
  const link = join(existing, below);
  return lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink()
    ? `${link} is a link to something that does not exist`
    : `${home} cannot be made: ${existing} takes no new folders`;
};
const isFull: Reason = (_, home) => `no space left on the disk of ${home}`;

const REASONS: Readonly<Record<string, Reason>> = {
  ENOENT: isNowhere,
  ENOTDIR: isFile,
  EEXIST: isFile,
  EACCES: isForbidden,
  EPERM: isForbidden,
  EROFS: (_, home) => `${home} is on a disk that is mounted read-only`,
  ENOSPC: isFull,
  EDQUOT: isFull,
  ENAMETOOLONG: (_, home) => `${home} is too long for a path`,
  ELOOP: (_, home) => `${home} is a link that leads back to itself`,
};

function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path));
}
