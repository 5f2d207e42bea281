/** Looks at what is in an images directory and removes what the plan says. Under the lock of the directory. */
import { lstat, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Layout } from './layout.ts';
import { archiveName } from './packages.ts';
import { type Inventory, planPrune, type Stored } from './prune-plan.ts';
import { readKernel, readName, readRoot } from './records.ts';

export interface Pruned {
  readonly removed: readonly Stored[];
  readonly keptBytes: number;
}

/** An initramfs or a template that was asked for a moment ago is still being written, or a machine is about to start with it. */
const YOUNG_MS = 600_000;

export async function pruneImages(layout: Layout, { budgetBytes }: { readonly budgetBytes?: number }): Promise<Pruned> {
  const open = await openPaths();
  const isInUse = (path: string) => open.some((each) => each === path || each.startsWith(`${path}/`));
  const inventory = await takeStock(layout);
  const removed = planPrune(inventory, { isInUse, ...(budgetBytes !== undefined && { budgetBytes }) });
  // Names first: what they lead to is found as long as it is whole.
  for (const { path } of [...removed].sort((a, b) => Number(inNames(layout, b)) - Number(inNames(layout, a)))) {
    await rm(path, { recursive: true, force: true });
  }
  const all = Object.values(inventory).flat() as Stored[];
  const bytesOf = (stored: readonly Stored[]) => stored.reduce((sum, { bytes }) => sum + bytes, 0);
  return { removed, keptBytes: bytesOf(all) - bytesOf(removed) };
}

function inNames({ names }: Layout, { path }: Stored): boolean {
  return path.startsWith(`${names}/`);
}

async function takeStock(layout: Layout): Promise<Inventory> {
  const stored = async (folder: string): Promise<readonly Stored[]> =>
    Promise.all((await namesIn(folder)).map(async (name) => ({ path: join(folder, name), bytes: await bytesBelow(join(folder, name)) })));
  const names = await Promise.all(
    (await stored(layout.names)).map(async (each) => ({ ...each, ...((await readName(each.path)) ?? { name: '', hash: '' }) })),
  );
  const roots = await Promise.all(
    (await stored(layout.roots)).map(async (each) => {
      const record = await readRoot(each.path);
      const about = record && { kernel: record.kernel, builtAt: record.builtAt, archives: await archivesOf(layout, record) };
      return { ...each, hash: basename(each.path), ...about };
    }),
  );
  const kernels = (await stored(layout.kernels)).map((each) => ({ ...each, hash: basename(each.path) }));
  const archives = (await stored(join(layout.apt, 'archives'))).map((each) => ({ ...each, name: basename(each.path) }));
  const templates = await stored(layout.templates);
  const aptFiles = (await stored(layout.apt)).filter(({ path }) => basename(path) !== 'archives');
  return {
    names,
    roots,
    kernels,
    initrds: await withoutYoung(await stored(layout.initrds)),
    templates: await templatesOf(templates.filter((each) => !isUnfinished(each))),
    archives: archives.filter(({ name }) => name.endsWith('.deb')),
    leftovers: [...(await stored(layout.scratch)), ...(await withoutYoung(templates.filter(isUnfinished)))],
    indexes: aptFiles,
  };
}

/** Of a root and of its kernel. */
async function archivesOf(layout: Layout, record: NonNullable<Awaited<ReturnType<typeof readRoot>>>): Promise<readonly string[]> {
  const kernel = await readKernel(layout.kernel(record.kernel));
  return [...record.packages, ...(kernel ? [kernel.package] : [])].map(archiveName);
}

/** A template that a daemon makes or takes away; it does neither for minutes. */
function isUnfinished({ path }: Stored): boolean {
  return basename(path).includes('.');
}

async function templatesOf(stored: readonly Stored[]): Promise<Inventory['templates']> {
  return Promise.all(stored.map(async (each) => ({ ...each, root: await readFile(join(each.path, 'image'), 'utf8').catch(() => '') })));
}

async function withoutYoung(stored: readonly Stored[]): Promise<readonly Stored[]> {
  const isOld = await Promise.all(stored.map(async ({ path }) => Date.now() - (await lstat(path)).mtimeMs > YOUNG_MS));
  return stored.filter((_, at) => isOld[at]);
}

/** What it takes on the disk: a root is sparse. */
async function bytesBelow(path: string): Promise<number> {
  const file = await lstat(path).catch(() => undefined);
  if (file === undefined) return 0;
  const own = file.blocks * 512;
  if (!file.isDirectory()) return own;
  const below = await Promise.all((await namesIn(path)).map((name) => bytesBelow(join(path, name))));
  return below.reduce((sum, bytes) => sum + bytes, own);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(() => [])).sort();
}

/** Files that processes have open or were started with, as far as we may look: a virtual machine's root, kernel and initramfs. */
async function openPaths(): Promise<readonly string[]> {
  const pids = (await namesIn('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const descriptors = await namesIn(`/proc/${pid}/fd`);
      const targets = await Promise.all(descriptors.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
      const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
      return [...targets, ...words].filter((path) => path.startsWith('/'));
    }),
  );
  return found.flat();
}
