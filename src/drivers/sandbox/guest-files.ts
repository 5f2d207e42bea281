/** The guest agent's files in the folder of a workspace, from where bubblewrap can bind them whoever it runs as. */
import { linkSync, rmSync, type Stats, statSync } from 'node:fs';
import { chmod, copyFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isPresent } from '../local/directories.ts';
import { sideBySide } from '../local/side-by-side.ts';

export interface GuestFiles {
  /** What Node is told to run. */
  readonly guestAgent: string;
  /** What that file takes its program from, where it does. */
  readonly guestPack?: string;
  /** The command that the programs inside reach their team with, where there is one. */
  readonly teamCommand?: string;
  /** What it starts for each prompt, where there is one. */
  readonly promptRunner?: string;
}

/** Where they are in a workspace's folder. */
export function guestFilesIn(folder: string, { guestPack, teamCommand, promptRunner }: GuestFiles): GuestFiles {
  return {
    guestAgent: join(folder, 'guest-agent.cjs'),
    ...(guestPack !== undefined && { guestPack: join(folder, 'guest-agent.pack') }),
    ...(teamCommand !== undefined && { teamCommand: join(folder, 'team') }),
    ...(promptRunner !== undefined && { promptRunner: join(folder, 'prompt-runner.cjs') }),
  };
}

/** The pack lies beside the agent under the same name, the runner too, the command in a folder beside it. */
export async function findGuestFiles(guestAgent: string): Promise<GuestFiles> {
  const guestPack = guestAgent.replace(/\.cjs$/, '.pack');
  const teamCommand = join(dirname(guestAgent), 'bin', 'team');
  const promptRunner = join(dirname(guestAgent), 'prompt-runner.cjs');
  const [hasPack, hasCommand, hasRunner] = await sideBySide([
    guestPack !== guestAgent && isPresent(guestPack),
    isPresent(teamCommand),
    isPresent(promptRunner),
  ]);
  return { guestAgent, ...(hasPack && { guestPack }), ...(hasCommand && { teamCommand }), ...(hasRunner && { promptRunner }) };
}

export async function ensureGuestFiles(folder: string, files: GuestFiles): Promise<void> {
  const own = guestFilesIn(folder, files);
  const ensure = (source: string | undefined, target: string | undefined) =>
    source === undefined || target === undefined ? undefined : ensureSame(source, target);
  await sideBySide([
    ensure(files.guestAgent, own.guestAgent),
    ensure(files.guestPack, own.guestPack),
    ensure(files.teamCommand, own.teamCommand),
    ensure(files.promptRunner, own.promptRunner),
  ]);
}

/**
 * As another name of the same file where nobody but us can write it and everybody can read it, else as a copy. Either way it is of no
 * concern to a workspace when another version takes the place of the original.
 */
async function ensureSame(source: string, target: string): Promise<void> {
  const file = statSync(source);
  if (isOursAlone(file) && tryLink(source, target)) return;
  // Not into what is there: that may be another name of a file that others use.
  await rm(target, { force: true });
  await copyFile(source, target);
  await chmod(target, 0o644 | (file.mode & 0o111));
}

function isOursAlone(file: Stats): boolean {
  return file.isFile() && file.uid === process.getuid?.() && (file.mode & 0o666) === 0o644;
}

/** False: the two are not on the same file system, or this one has no second names. */
function tryLink(source: string, target: string): boolean {
  try {
    linkSync(source, target);
    return true;
  } catch (error) {
    if (isCode(error, ['EEXIST'])) {
      rmSync(target);
      return tryLink(source, target);
    }
    if (isCode(error, ['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])) return false;
    throw error;
  }
}

function isCode(error: unknown, codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException).code ?? '');
}
