/** What the file system says, in the words of the protocol. */
import { ProtocolError, type ProtocolErrorCode } from '#protocol/protocol-error.ts';

const CODES: Readonly<Record<string, readonly [ProtocolErrorCode, string]>> = {
  ENOENT: ['NotFound', 'does not exist'],
  ENOTDIR: ['NotFound', 'leads through something that is not a directory'],
  EISDIR: ['Invalid', 'is a directory'],
  EEXIST: ['Conflict', 'exists already'],
  ENAMETOOLONG: ['Invalid', 'is too long for a path'],
  ERR_INVALID_ARG_VALUE: ['Invalid', 'has a zero byte in it'],
  ELOOP: ['Forbidden', 'is a chain of links without end'],
  EACCES: ['Forbidden', 'may not be touched by this agent'],
  EPERM: ['Forbidden', 'may not be touched by this agent'],
  EROFS: ['Forbidden', 'is on a read-only file system'],
  ENOSPC: ['Unavailable', 'does not fit: the disk is full'],
  EDQUOT: ['Unavailable', 'does not fit: the quota is used up'],
  EFBIG: ['TooLarge', 'is over the limit for one file'],
};

export function toFileError(error: unknown, path: string): unknown {
  const known = CODES[(error as NodeJS.ErrnoException | undefined)?.code ?? ''];
  return known === undefined || error instanceof ProtocolError ? error : new ProtocolError(known[0], `${path} ${known[1]}`, error);
}
