/** What the folder of a machine holds before its start: its disk, and places for the files that root binds there. */
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceSpec } from '../driver.ts';
import { ensureDisk } from './disk.ts';
import { BOUND } from './launch.ts';

export const DISK = 'disk.ext4';

export function diskIn(directory: string): string {
  return join(directory, DISK);
}

/** Gives the path of the disk. */
export async function ensureFolder(
  { base, resources }: Pick<WorkspaceSpec, 'base' | 'resources'>,
  directory: string,
  uid: number | undefined,
): Promise<string> {
  const disk = diskIn(directory);
  await mkdir(join(directory, 'bound'), { recursive: true, mode: 0o755 });
  const owner = uid === undefined ? {} : { uid };
  await ensureDisk({ path: disk, diskGiB: resources.diskGiB, ...owner, ...(base !== undefined && { base }) });
  for (const name of BOUND) await writeFile(join(directory, 'bound', name), '', { flag: 'a', mode: 0o644 });
  if (uid !== undefined) {
    // Its parents are closed to everybody else.
    await chmod(directory, 0o711);
    await chown(join(directory, 'run'), uid, uid);
  }
  return disk;
}
