/** Whether there is room for what is about to be written: a file system that is full breaks whoever writes to it next. */
import { statfs } from 'node:fs/promises';
import { AgentisoError } from '#lib/errors.ts';

const MIB = 1024 ** 2;
/** What is left for everybody else. */
export const SPARE_MIB = 1024;

/** Of the file system that `path` is on. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Throws QuotaExceeded where there is no room for so many bytes. `what`: what they are for. */
export type Room = (bytes: number, what: string) => Promise<void>;

/** Throws QuotaExceeded, with the numbers. `what`: what the bytes are for. */
export async function requireRoom(path: string, bytes: number, what: string): Promise<void> {
  const problem = roomProblem(await freeBytes(path), bytes, what);
  if (problem !== undefined) throw new AgentisoError('QuotaExceeded', problem, { reason: 'DiskFull', hint: 'make room on the disk' });
}

/** Pure. */
export function roomProblem(free: number, bytes: number, what: string): string | undefined {
  if (free >= bytes + SPARE_MIB * MIB) return undefined;
  return `${what} may take ${toMiB(bytes)} MiB, and of the ${toMiB(free)} MiB that are free ${SPARE_MIB} MiB are to stay so`;
}

function toMiB(bytes: number): number {
  return Math.ceil(bytes / MIB);
}
