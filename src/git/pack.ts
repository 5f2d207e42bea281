/**
 * Loose objects put into packs, so that a repository does not become a million files. Nothing is ever dropped: neither what no ref leads to, nor
 * what only a reflog knows, and refs and reflogs themselves are not touched.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '#lib/process-identity.ts';
import { type GitOptions, git } from './run.ts';

export interface PackLimits {
  readonly loose: number;
  readonly packs: number;
}

/** As git's own `gc --auto` has them. */
const LIMITS: PackLimits = { loose: 6_700, packs: 50 };
const PACK_MS = 120_000;
/** Objects are spread evenly over 256 folders: one of them tells of all. */
const SAMPLE = '17';
const FOLDERS = 256;

/** False: it is small enough as it is. */
export async function packIfLarge(options: GitOptions, limits: PackLimits = LIMITS): Promise<boolean> {
  const objects = join(options.directory, 'objects');
  const loose = (await names(join(objects, SAMPLE))).length * FOLDERS;
  const packs = (await names(join(objects, 'pack'))).filter((name) => name.endsWith('.pack')).length;
  if (loose <= limits.loose && packs <= limits.packs) return false;
  // Only packs that are small beside the others are joined, whatever leads to what is in them: the work is bounded, and nothing is left out.
  await git(['repack', '--quiet', '-d', '-l', '--geometric=2'], { ...options, timeoutMs: PACK_MS });
  return true;
}

async function names(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
