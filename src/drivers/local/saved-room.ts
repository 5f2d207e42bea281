/**
 * What people have kept on the disk, and the room that is left for more: snapshots, and the memory of suspended machines, of all drivers of a home.
 * Nothing of it is ever removed to make room.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AgentisoError } from '#lib/errors.ts';
import { execute } from '#lib/execute.ts';
import { type Room, requireRoom } from './free-disk.ts';

export const SNAPSHOTS = '.snapshots';
/** In the folder of a workspace. */
export const SAVED_STATE = join('saved', 'state');
const MIB = 1024 ** 2;

export interface SavedRoomOptions {
  /** Holds a folder per driver. */
  readonly root: string;
  readonly maxSavedMiB: () => number;
}

/** Free disk is looked at, too. */
export function savedRoom({ root, maxSavedMiB }: SavedRoomOptions): Room {
  return async (bytes, what) => {
    await requireRoom(root, bytes, what);
    const problem = savedProblem(await savedBytes(root), bytes, { what, maxMiB: maxSavedMiB() });
    const hint = 'delete snapshots (agentiso snapshot list), or raise limits.maxSavedMiB in config.yaml';
    if (problem !== undefined) throw new AgentisoError('QuotaExceeded', `${problem}; ${hint}`, { reason: 'SavedLimit' });
  };
}

/** Pure. */
export function savedProblem(
  saved: number,
  bytes: number,
  { what, maxMiB }: { readonly what: string; readonly maxMiB: number },
): string | undefined {
  if (saved + bytes <= maxMiB * MIB) return undefined;
  const [wanted, used] = [bytes, saved].map((each) => Math.ceil(each / MIB));
  return `${what} may take ${wanted} MiB, and of limits.maxSavedMiB ${maxMiB} snapshots and suspended machines have ${used}`;
}

export async function savedBytes(root: string): Promise<number> {
  const drivers = foldersIn(root);
  const snapshots = drivers.map((driver) => join(driver, SNAPSHOTS)).filter(existsSync);
  const memories = drivers.flatMap(foldersIn).map((folder) => statSync(join(folder, SAVED_STATE), GONE)?.size ?? 0);
  return (await diskUsage(snapshots)) + memories.reduce((sum, size) => sum + size, 0);
}

function foldersIn(directory: string): string[] {
  const found = readdirSync(directory, { withFileTypes: true }).filter((each) => each.isDirectory());
  return found.map(({ name }) => join(directory, name));
}

const GONE = { throwIfNoEntry: false } as const;

/** Of all of them together. What goes while it is counted does not count. */
export async function diskUsage(paths: readonly string[]): Promise<number> {
  if (paths.length === 0) return 0;
  const options = { maxOutputBytes: 64 * MIB };
  const { stdout } = await execute('du', ['-s', '-B1', '--', ...paths], options).catch((error: { stdout?: string }) => {
    if (!error.stdout) throw error;
    return { stdout: error.stdout };
  });
  return stdout.split('\n').reduce((sum, line) => sum + (Number.parseInt(line, 10) || 0), 0);
}
