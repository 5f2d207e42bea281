/** The guest agent's files in the folder of a workspace, from where bubblewrap can bind them whoever it runs as. */
import { chmod, copyFile, link, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isPresent } from '../local/directories.ts';
import { sideBySide } from '../local/side-by-side.ts';

export interface GuestFiles {
  /** What Node is told to run. */
  readonly guestAgent: string;
  /** What that file takes its program from, where it does. */
  readonly guestPack?: string;
}

/** Where the two are in a workspace's folder. */
export function guestFilesIn(folder: string, { guestPack }: GuestFiles): GuestFiles {
  return { guestAgent: join(folder, 'guest-agent.cjs'), ...(guestPack !== undefined && { guestPack: join(folder, 'guest-agent.pack') }) };
}

/** Both lie side by side under one name. */
export async function findGuestFiles(guestAgent: string): Promise<GuestFiles> {
  const guestPack = guestAgent.replace(/\.cjs$/, '.pack');
  return { guestAgent, ...(guestPack !== guestAgent && (await isPresent(guestPack)) && { guestPack }) };
}

export async function ensureGuestFiles(folder: string, files: GuestFiles): Promise<void> {
  const own = guestFilesIn(folder, files);
  await sideBySide([
    ensureSame(files.guestAgent, own.guestAgent),
    files.guestPack === undefined || own.guestPack === undefined ? undefined : ensureSame(files.guestPack, own.guestPack),
  ]);
}

/**
 * As another name of the same file where nobody but us can write it and everybody can read it, else as a copy. Either way it is of no
 * concern to a workspace when another version takes the place of the original.
 */
async function ensureSame(source: string, target: string): Promise<void> {
  if ((await isOursAlone(source)) && (await tryLink(source, target))) return;
  // Not into what is there: that may be another name of a file that others use.
  await rm(target, { force: true });
  await copyFile(source, target);
  await chmod(target, 0o644);
}

async function isOursAlone(path: string): Promise<boolean> {
  const file = await stat(path);
  return file.isFile() && file.uid === process.getuid?.() && (file.mode & 0o666) === 0o644;
}

/** False: the two are not on the same file system, or this one has no second names. */
async function tryLink(source: string, target: string): Promise<boolean> {
  try {
    await link(source, target);
    return true;
  } catch (error) {
    if (isCode(error, ['EEXIST'])) {
      await rm(target);
      return tryLink(source, target);
    }
    if (isCode(error, ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])) return false;
    throw error;
  }
}

function isCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? '');
}
