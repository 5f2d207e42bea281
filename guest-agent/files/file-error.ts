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

/** Of what nobody foresaw only the code is said: the message of the file system names places that mean nothing to whoever asked. */
export function toFileError(error: unknown, path: string): unknown {
  const { code = '', syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (error instanceof ProtocolError) return error;
  const known = CODES[code];
  if (known !== undefined) return new ProtocolError(known[0], `${path} ${known[1]}`, error);
  return syscall === undefined ? error : new ProtocolError('IoError', `${path} cannot be used: ${code}`, error);
}
