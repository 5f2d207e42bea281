/**
 * The initramfs of a guest: the kernel part, then the inits and the guest agent of this version of agentiso. It is written in milliseconds, so no root
 * has to be made anew when the guest agent is another one.
 */
import { createHash } from 'node:crypto';
import { readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { cpioArchive, directory, file, link } from './cpio.ts';
import { FIRST_INIT, FIRST_INIT_PROGRAMS } from './first-init.ts';
import { SECOND_INIT } from './second-init.ts';
import { isPresent, writeWhole } from './whole-file.ts';

export interface ImageGuestFiles {
  /** What Node is told to run. */
  readonly guestAgent: string;
  /** What that file takes its program from, where it does. */
  readonly guestPack?: string;
  /** The command that the programs inside reach their team with, where there is one. */
  readonly teamCommand?: string;
  /** What it starts for each prompt, where there is one. */
  readonly promptRunner?: string;
}

export async function ensureInitrd(folder: string, bootArchive: string, guest: ImageGuestFiles): Promise<string> {
  const part = await guestArchive(guest);
  const boot = await readFile(bootArchive);
  const hash = createHash('sha256').update(boot).update(part).digest('hex').slice(0, 32);
  const path = join(folder, `${hash}.cpio`);
  // Its age says when somebody last asked for it: prune leaves young ones alone.
  if (await isPresent(path)) await utimes(path, new Date(), new Date());
  else await writeWhole(path, Buffer.concat([boot, part]));
  return path;
}

/** Both inits, and in `guest` what will lie in /run/agentiso. */
export async function guestArchive({ guestAgent, guestPack, teamCommand, promptRunner }: ImageGuestFiles): Promise<Buffer> {
  const read = async (path: string, source: string | undefined, permissions?: number) =>
    source === undefined ? [] : [file(path, await readFile(source), permissions)];
  return cpioArchive([
    directory('bin'),
    ...FIRST_INIT_PROGRAMS.map((name) => link(`bin/${name}`, 'busybox')),
    file('init', FIRST_INIT, 0o755),
    directory('guest'),
    directory('guest/bin'),
    file('guest/init', SECOND_INIT, 0o755),
    ...(await read('guest/guest-agent.cjs', guestAgent)),
    ...(await read('guest/guest-agent.pack', guestPack)),
    ...(await read('guest/prompt-runner.cjs', promptRunner)),
    ...(await read('guest/bin/team', teamCommand, 0o755)),
  ]);
}
