/** What a sandbox needs in its workspace's folder, made and owned so that its uid can use it. Small things, and so made at once: see directories.ts. */
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StalledError } from '#lib/errors.ts';
import { execute } from '#lib/execute.ts';
import { isPresent } from '../local/directories.ts';
import { sideBySide } from '../local/side-by-side.ts';
import type { NodeProgram } from './args.ts';
import { ensureGuestFiles, findGuestFiles, type GuestFiles } from './guest-files.ts';

export interface FolderPlan {
  readonly directory: string;
  readonly hostname: string;
  readonly guestAgentPath: string;
  readonly seccomp: Buffer;
  /** Who the guest is to this machine. Absent: whoever we are. */
  readonly uid?: number;
  readonly base?: string;
  /** Room for a layer, under a base that is not known yet. */
  readonly isBaseComing?: boolean;
  readonly canOverlay: boolean;
  /** Has to be bound as root. */
  readonly node?: NodeProgram['bound'];
  /** The same. */
  readonly tools?: string;
}

export interface Folder {
  /** As they were given, not those in the folder. */
  readonly guest: GuestFiles;
  /** The name of what becomes /workspace. */
  readonly files: 'workspace' | 'merged';
  readonly seccompPath: string;
}

export async function ensureFolder(plan: FolderPlan): Promise<Folder> {
  const { directory, uid } = plan;
  const seccompPath = join(directory, 'seccomp.bpf');
  ensureEtc(join(directory, 'etc'), plan.hostname);
  writeFileSync(seccompPath, plan.seccomp, { mode: 0o600 });
  mkdirSync(join(directory, 'home'), { recursive: true, mode: 0o700 });
  if (plan.node !== undefined) ensureNodeMountPoint(join(directory, 'node'), plan.node.source);
  if (plan.tools !== undefined) mkdirSync(join(directory, 'tools'), { recursive: true, mode: 0o755 });
  // Its parents are closed to everybody else.
  if (uid !== undefined) chmodSync(directory, 0o711);
  // These may copy, which takes time.
  const [files, guest] = await sideBySide([ensureFiles(plan), ensureGuest(plan)]);
  const own = files === 'merged' ? ['run', 'state', 'home', 'upper', 'merged'] : ['run', 'state', 'home', 'workspace'];
  if (uid !== undefined) await sideBySide(own.map((name) => giveTo(uid, join(directory, name))));
  return { files, guest, seccompPath };
}

/** Files that came from a snapshot of another team are still that team's: the folder itself goes last, so that after a crash it is done again. */
async function giveTo(uid: number, path: string): Promise<void> {
  const { uid: owner } = statSync(path);
  if (owner !== uid && owner !== process.getuid?.())
    await execute('find', [path, '-mindepth', '1', '-depth', '-exec', 'chown', '-h', `${uid}:${uid}`, '--', '{}', '+']);
  chownSync(path, uid, uid);
}

async function ensureGuest({ directory, guestAgentPath }: FolderPlan): Promise<GuestFiles> {
  const guest = await findGuestFiles(guestAgentPath);
  await ensureGuestFiles(directory, guest);
  return guest;
}

/** In place: what is bound into a sandbox is the file, not its name. */
export function ensureEtc(etc: string, hostname: string): void {
  mkdirSync(etc, { recursive: true, mode: 0o755 });
  const contents = {
    passwd:
      'root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:1000:1000:agent:/home/agent:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n',
    group: 'root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n',
    hosts: `127.0.0.1 localhost\n::1 localhost\n127.0.1.1 ${hostname}\n`,
    hostname: `${hostname}\n`,
    // Names are resolved by the proxy, outside.
    'resolv.conf': 'options timeout:1 attempts:1\n',
  };
  for (const [name, text] of Object.entries(contents)) writeFileSync(join(etc, name), text, { mode: 0o644 });
}

async function ensureFiles({ directory, base, isBaseComing, canOverlay }: FolderPlan): Promise<Folder['files']> {
  if (isBaseComing) {
    ensureLayer(directory);
    return 'merged';
  }
  const hasLayer = await isPresent(join(directory, 'upper'));
  const workspace = join(directory, 'workspace');
  if (base === undefined) {
    if (hasLayer)
      throw new StalledError('BaseMissing', `the files in ${directory} are a layer over a base, and no base is given`, {
        hint: 'give the workspace the base it was made with',
      });
    mkdirSync(workspace, { recursive: true, mode: 0o700 });
    return 'workspace';
  }
  if (await isPresent(workspace)) return 'workspace';
  if (!canOverlay && !hasLayer) {
    await copyBase(base, workspace);
    return 'workspace';
  }
  ensureLayer(directory);
  setBase(directory, base);
  return 'merged';
}

/** Whole or not there. */
async function copyBase(base: string, workspace: string): Promise<void> {
  const copy = `${workspace}.new`;
  await rm(copy, { recursive: true, force: true });
  await execute('cp', ['-a', '--reflink=auto', '--', base, copy]);
  await rename(copy, workspace);
}

function ensureLayer(directory: string): void {
  for (const name of ['work', 'merged', 'upper']) mkdirSync(join(directory, name), { recursive: true, mode: 0o700 });
}

/** The base goes by the name of a link: no character of its path has a meaning to mount. */
export function setBase(directory: string, base: string): void {
  rmSync(join(directory, 'base'), { force: true });
  symlinkSync(base, join(directory, 'base'));
}

function ensureNodeMountPoint(path: string, source: string): void {
  if (statSync(source).isDirectory()) mkdirSync(path, { recursive: true, mode: 0o755 });
  else writeFileSync(path, '', { mode: 0o755 });
}
