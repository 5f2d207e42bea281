/**
 * Removes other releases than the present ones from a tool directory, and what installations that were cut off have left. What a process runs
 * from stays. Only when somebody asks: a daemon of another version may want its own release again tomorrow.
 */
import { readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { installableBackends } from './all-backends.ts';
import { withInstallLock } from './install.ts';
import { releaseOf } from './tool-places.ts';

export interface Pruned {
  readonly folder: string;
  /** The process that runs from it. Absent: it is gone. */
  readonly usedBy?: number;
}

export interface PruneOptions {
  readonly tools: string;
  readonly signal: AbortSignal;
  readonly onWait?: () => void;
}

const DRAFTS = ['.installing-', '.removing-'];

export async function pruneReleases(options: PruneOptions): Promise<Pruned[]> {
  const pruned: Pruned[] = [];
  for (const { name, packages } of installableBackends) {
    const old = (entry: string) => entry.startsWith(`${name}@`) && entry !== `${name}@${releaseOf({ packages })}`;
    const isLeft = (entry: string) => DRAFTS.some((draft) => entry.startsWith(`${draft}${name}@`)) || old(entry);
    if (!(await entriesOf(options.tools)).some(isLeft)) continue;
    await withInstallLock(name, options, async () => {
      for (const entry of (await entriesOf(options.tools)).filter(isLeft)) pruned.push(await remove(options.tools, entry));
    });
  }
  return pruned;
}

/** Out of sight first: what is half gone is nobody's. */
async function remove(tools: string, entry: string): Promise<Pruned> {
  const folder = join(tools, entry);
  const usedBy = await userOf(entry);
  if (usedBy !== undefined) return { folder, usedBy };
  const draft = entry.startsWith('.') ? folder : join(tools, `.removing-${entry}`);
  if (draft !== folder) {
    await rm(draft, { recursive: true, force: true });
    await rename(folder, draft);
  }
  await rm(draft, { recursive: true, force: true });
  return { folder };
}

async function entriesOf(tools: string): Promise<string[]> {
  return readdir(tools).catch(() => []);
}

/** By the folder's own name: inside of sandboxes the directory is another one. */
async function userOf(entry: string): Promise<number | undefined> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  for (const pid of pids) {
    const words = await Promise.all(
      [readlink(`/proc/${pid}/exe`), readlink(`/proc/${pid}/cwd`), readFile(`/proc/${pid}/cmdline`, 'utf8')].map(orNothing),
    );
    if (words.some((text) => text.includes(`/${entry}/`))) return pid;
  }
  return undefined;
}

/** It has ended meanwhile, or is somebody else's. */
function orNothing(text: Promise<string>): Promise<string> {
  return text.catch(() => '');
}
