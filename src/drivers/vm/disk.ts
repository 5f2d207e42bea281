/** The disk of a workspace: one file that takes as much room as was written to it, kept from one incarnation to the next. */
import { chown, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentisoError } from '#lib/errors.ts';
import { execute } from '#lib/execute.ts';
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

export interface FileSystemPlan {
  /** Of the file that holds it. */
  readonly path: string;
  readonly bytes: number;
  /** What is in it at first, beside what is bound. */
  readonly folders: readonly string[];
  /** A tree that becomes the content of one of the folders. */
  readonly bound?: { readonly source: string; readonly folder: string };
  /** Of mke2fs. */
  readonly options: readonly string[];
}

/** Seen only by the process that makes the file system: the tree is where it is to lie without being copied first. */
const MAKE_SCRIPT = `
tree=$1 source=$2 folder=$3 target=$4
shift 4
if [ -n "$source" ]; then mount --bind "$source" "$tree/$folder" || exit 1; fi
exec mke2fs -q -t ext4 -m 0 "$@" -d "$tree" "$target"
`;

/** Idempotent: what is there stays as it is. Whole or not there. */
export async function ensureDisk({ path, diskGiB, base, uid }: DiskPlan): Promise<void> {
  if (await isPresent(path)) {
    // A copy of another team's is still that team's.
    if (uid !== undefined) await chown(path, uid, uid);
    return;
  }
  await makeFileSystem({
    ...{ path, bytes: diskGiB * GIB, folders: ['workspace', 'state', 'home'] },
    ...(base !== undefined && { bound: { source: base, folder: 'workspace' } }),
    ...(uid !== undefined && { uid }),
    options: ['-E', 'lazy_itable_init=1,lazy_journal_init=1,nodiscard'],
  });
}

/** As its guest sees it. undefined: it has not been made. */
export async function diskSize(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** In a sparse file, whole or not there. `uid`: whose it is; absent: ours. */
export async function makeFileSystem(plan: FileSystemPlan & Pick<DiskPlan, 'uid'>): Promise<void> {
  const { path, bytes, folders, bound, options, uid } = plan;
  const [unfinished, tree] = [`${path}.new`, `${path}.tree`];
  await Promise.all([unfinished, tree].map((each) => rm(each, { recursive: true, force: true })));
  for (const folder of folders) await mkdir(join(tree, folder), { recursive: true, mode: 0o755 });
  const file = await open(unfinished, 'wx', 0o600);
  await file.truncate(bytes);
  await file.close();
  const apart = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount'];
  const script = ['/bin/sh', '-c', MAKE_SCRIPT, 'sh', tree, bound?.source ?? '', bound?.folder ?? '', unfinished, ...options];
  try {
    await execute('unshare', [...apart, '--propagation', 'slave', '--', ...script], { env: { PATH: TOOL_PATH } });
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { stderr?: string };
    throw new AgentisoError('IoError', `the disk cannot be made: ${stderr.trim() || message}`, { reason: 'DiskFailed', cause });
  }
  if (uid !== undefined) await chown(unfinished, uid, uid);
  await rm(tree, { recursive: true, force: true });
  await rename(unfinished, path);
}
