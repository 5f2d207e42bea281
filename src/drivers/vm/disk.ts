/** The disk of a workspace: one file that takes as much room as was written to it, kept from one incarnation to the next. */
import { execFile } from 'node:child_process';
import { chown, mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AgentisoError } from '#lib/errors.ts';
import { isPresent } from '../local/directories.ts';
import { TOOL_PATH } from '../sandbox/args.ts';

export interface DiskPlan {
  readonly path: string;
  readonly diskGiB: number;
  /** A tree that becomes the workspace. */
  readonly base?: string;
  /** Whose it is. Absent: ours. */
  readonly uid?: number;
}

const GIB = 1024 ** 3;

/** Seen only by the process that makes the file system: the base is where it is to lie without being copied first. */
const MAKE_SCRIPT = `
if [ -n "$2" ]; then mount --bind "$2" "$1/workspace" || exit 1; fi
exec mke2fs -q -t ext4 -E lazy_itable_init=1,lazy_journal_init=1,nodiscard -m 0 -d "$1" "$3"
`;

/** Idempotent: what is there stays as it is. Whole or not there. */
export async function ensureDisk({ path, diskGiB, base, uid }: DiskPlan): Promise<void> {
  if (await isPresent(path)) return;
  const [unfinished, tree] = [`${path}.new`, `${path}.tree`];
  await Promise.all([unfinished, tree].map((each) => rm(each, { recursive: true, force: true })));
  for (const folder of ['workspace', 'state', 'home']) await mkdir(join(tree, folder), { recursive: true, mode: 0o755 });
  const file = await open(unfinished, 'wx', 0o600);
  await file.truncate(diskGiB * GIB);
  await file.close();
  const apart = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
  const args = [...apart, '--propagation', 'slave', '--', '/bin/sh', '-c', MAKE_SCRIPT, 'sh', tree, base ?? '', unfinished];
  try {
    await promisify(execFile)('unshare', args, { env: { PATH: TOOL_PATH } });
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { stderr?: string };
    throw new AgentisoError('IoError', `the disk cannot be made: ${stderr.trim() || message}`, { reason: 'DiskFailed', cause });
  }
  if (uid !== undefined) await chown(unfinished, uid, uid);
  await rm(tree, { recursive: true, force: true });
  await rename(unfinished, path);
}
