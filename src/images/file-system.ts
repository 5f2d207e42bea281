/** From a folder to an ext4 file system in a file: read-only in use, so without a journal and with no more room than it needs. */
import type { Stats } from 'node:fs';
import { lstat, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { settleTimes } from './ext4-times.ts';
import { EPOCH_SECONDS } from './recipe.ts';
import { run } from './run.ts';

interface Measure {
  readonly blocks: number;
  readonly inodes: number;
}

const BLOCK = 4_096;
const INODE = 256;
const ALIGNMENT = 4 * 1024 * 1024;
/** What a link may hold without a block of its own. */
const SHORT_LINK = 60;
/** Of an entry in a folder, with what splitting full blocks leaves empty. */
const NAME_OVERHEAD = 24;
/** mkfs would draw lots for both. */
const UUID = '61676e74-6973-4f00-8000-726f6f740001';
const HASH_SEED = '61676e74-6973-4f00-8000-726f6f740002';
/** Neither is of use to what nobody writes to; without checksums the times can be set afterwards. */
const FEATURES = '^has_journal,^resize_inode,^metadata_csum';

export async function makeFileSystem(folder: string, target: string, signal: AbortSignal): Promise<void> {
  const measure = await measureFolder(folder);
  const inodes = measure.inodes + 64;
  const file = await open(target, 'w');
  try {
    await file.truncate(fileSystemBytes(measure));
    const layout = ['-b', String(BLOCK), '-I', String(INODE), '-N', String(inodes), '-m', '0', '-O', FEATURES];
    const identity = ['-U', UUID, '-L', 'agentiso-root', '-E', `hash_seed=${HASH_SEED},lazy_itable_init=1,nodiscard,root_owner=0:0`];
    const env = { E2FSPROGS_FAKE_TIME: String(EPOCH_SECONDS), SOURCE_DATE_EPOCH: String(EPOCH_SECONDS) };
    await run(['mkfs.ext4', '-q', '-F', ...layout, ...identity, '-d', folder, target], { signal, env });
  } finally {
    await file.close();
  }
  const written = await open(target, 'r+');
  try {
    await settleTimes(written, EPOCH_SECONDS);
    await written.sync();
  } finally {
    await written.close();
  }
}

/** Room for everything, for the tables, and a little that rounding takes. */
export function fileSystemBytes({ blocks, inodes }: Measure): number {
  const needed = blocks * BLOCK * 1.02 + inodes * INODE + 2 * ALIGNMENT;
  return Math.ceil(needed / ALIGNMENT) * ALIGNMENT;
}

async function measureFolder(folder: string): Promise<Measure> {
  const seen = new Set<number>();
  let blocks = 0;
  const walk = async (path: string): Promise<void> => {
    const entries = await readdir(path, { withFileTypes: true });
    // By the names in it: how long a folder is here depends on the file system that it is on.
    blocks += Math.ceil(entries.reduce((sum, { name }) => sum + NAME_OVERHEAD + Buffer.byteLength(name), NAME_OVERHEAD) / BLOCK);
    for (const entry of entries) {
      const place = join(path, entry.name);
      const file = await lstat(place);
      // A file with two names is there once.
      if (seen.has(file.ino)) continue;
      seen.add(file.ino);
      if (file.isDirectory()) await walk(place);
      else blocks += contentBlocks(file);
    }
  };
  await walk(folder);
  return { blocks, inodes: seen.size };
}

function contentBlocks(file: Stats): number {
  if (file.isSymbolicLink() && file.size < SHORT_LINK) return 0;
  return file.isFile() || file.isSymbolicLink() ? Math.ceil(file.size / BLOCK) : 0;
}

/** `mke2fs 1.47.0 (5-Feb-2023)` and the like, from what it says about itself. */
export async function fileSystemTool(signal: AbortSignal): Promise<string> {
  let version = '';
  const onLine = (line: string) => {
    version ||= /^mke2fs (\S+)/.exec(line)?.[1] ?? '';
  };
  await run(['mkfs.ext4', '-V'], { signal, onLine });
  return version;
}
