/** One build, from names of packages to a whole image: resolved, downloaded, made aside, and put in place with one rename. */
import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncPath } from '#lib/sync-path.ts';
import { type Apt, openApt } from './apt.ts';
import type { ImageDefinition } from './definitions.ts';
import { fileSystemTool } from './file-system.ts';
import { makeKernel } from './kernel.ts';
import type { Layout } from './layout.ts';
import type { IndexedPackage, Package } from './packages.ts';
import { BASE_PACKAGES, type ImageInputs, imageHash, KERNEL_PACKAGE, kernelHash, RECIPE_VERSION, SYSTEM_WORDS } from './recipe.ts';
import { BOOT_FILE, KERNEL_FILE, RECORD_FILE, ROOT_FILE, readKernel, readRoot, recordText } from './records.ts';
import { makeRoot } from './root.ts';
import { sizeOf, writeWhole } from './whole-file.ts';

/** What a build is doing. */
export interface BuildStep {
  readonly text: string;
  /** Of this step; absent where nobody can tell. */
  readonly percent?: number;
}

export interface BuildPlan {
  readonly layout: Layout;
  readonly definition: ImageDefinition;
  readonly node: { readonly path: string; readonly version: string };
  readonly signal: AbortSignal;
  /** Make it even though the same one is there. */
  readonly isForced: boolean;
  readonly now: () => Date;
  readonly onProgress: (step: BuildStep) => void;
}

interface Resolved {
  readonly kernel: IndexedPackage;
  readonly packages: readonly IndexedPackage[];
  readonly inputs: ImageInputs;
}

/** Under the lock of the directory. Gives the hash of the root that the name now stands for. */
export async function buildImage(plan: BuildPlan): Promise<string> {
  const { layout, definition, signal, isForced, onProgress } = plan;
  // Only a build that was killed leaves something: whoever has the lock is alone.
  await rm(layout.scratch, { recursive: true, force: true });
  onProgress({ text: 'looking for the newest packages' });
  const apt = await openApt(layout.apt, signal);
  const resolved = await resolve(apt, plan);
  const hash = imageHash(resolved.inputs);
  const kernel = await ensureKernel(apt, resolved, plan);
  if (isForced || (await readRoot(layout.root(hash))) === undefined) await buildRoot({ apt, resolved, hash, kernel }, plan);
  await writeWhole(layout.name(definition.name), recordText({ name: definition.name, hash }));
  return hash;
}

async function resolve(apt: Apt, { definition, node, signal }: BuildPlan): Promise<Resolved> {
  await apt.update();
  const packages = await apt.resolve([...SYSTEM_WORDS, ...BASE_PACKAGES, ...definition.packages]);
  const kernel = await apt.kernel(KERNEL_PACKAGE);
  const inputs = {
    recipe: RECIPE_VERSION,
    kernel: toPackage(kernel),
    node: { version: node.version, sha256: await sha256Of(node.path) },
    mkfs: await fileSystemTool(signal),
    packages: packages.map(toPackage),
  };
  return { kernel, packages, inputs };
}

/** Gives its hash. */
async function ensureKernel(apt: Apt, { kernel, packages }: Resolved, plan: BuildPlan): Promise<string> {
  const { layout, signal, onProgress } = plan;
  const busybox = packages.find(({ name }) => name === 'busybox-static');
  if (busybox === undefined) throw new Error('busybox-static was resolved away');
  const hash = kernelHash(RECIPE_VERSION, [toPackage(kernel), toPackage(busybox)]);
  if (!plan.isForced && (await readKernel(layout.kernel(hash))) !== undefined) return hash;
  onProgress({ text: `kernel ${kernel.version}` });
  const [kernelArchive, busyboxArchive] = [await apt.fetchAlone(kernel), await apt.fetchAlone(busybox)];
  await inScratch(layout, async (scratch) => {
    const target = join(scratch, 'target');
    await mkdir(target);
    const release = await makeKernel({ scratch, kernelArchive, busyboxArchive, target, signal });
    const [vmlinuxBytes = 0, bootBytes = 0] = [await sizeOf(join(target, KERNEL_FILE)), await sizeOf(join(target, BOOT_FILE))];
    const record = { hash, release, package: toPackage(kernel), vmlinuxBytes, bootBytes };
    await writeFile(join(target, RECORD_FILE), recordText(record));
    await putInPlace(target, layout.kernel(hash));
  });
  return hash;
}

async function buildRoot(
  { apt, resolved, hash, kernel }: { readonly apt: Apt; readonly resolved: Resolved; readonly hash: string; readonly kernel: string },
  plan: BuildPlan,
): Promise<void> {
  const { layout, signal, onProgress, node, now } = plan;
  const { packages, inputs } = resolved;
  const count = `${packages.length} packages`;
  onProgress({ text: `downloading ${count}` });
  const archives = await apt.fetch(packages, (percent) => onProgress({ text: `downloading ${count}`, percent }));
  await inScratch(layout, async (scratch) => {
    const target = join(scratch, 'target');
    await mkdir(target);
    const file = join(target, ROOT_FILE);
    onProgress({ text: `installing ${count}`, percent: 0 });
    const onPercent = (percent: number) => onProgress({ text: `installing ${count}`, percent });
    await makeRoot({ scratch, archives, packages, nodePath: node.path, target: file, signal, onPercent });
    onProgress({ text: 'writing the image' });
    const { recipe, mkfs } = inputs;
    const about = { hash, recipe, kernel, node: inputs.node, mkfs, builtAt: now().toISOString() };
    const content = { rootBytes: (await sizeOf(file)) ?? 0, rootSha256: await sha256Of(file), packages: inputs.packages };
    await writeFile(join(target, RECORD_FILE), recordText({ ...about, ...content }));
    signal.throwIfAborted();
    await putInPlace(target, layout.root(hash));
  });
}

/** A folder for one part, gone afterwards whatever happened. */
async function inScratch(layout: Layout, work: (scratch: string) => Promise<void>): Promise<void> {
  const scratch = join(layout.scratch, randomBytes(6).toString('hex'));
  await mkdir(scratch, { recursive: true });
  try {
    await work(scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Whole or not at all: everything is on the disk before it has its name. */
async function putInPlace(folder: string, place: string): Promise<void> {
  for (const name of await readdir(folder)) await syncPath(join(folder, name));
  await syncPath(folder);
  await mkdir(join(place, '..'), { recursive: true });
  // One that is there is cut short, or to be made again: those who have it open keep it.
  await rm(place, { recursive: true, force: true });
  await rename(folder, place);
  await syncPath(join(place, '..'));
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1024 * 1024 }), hash);
  return hash.digest('hex');
}

function toPackage({ name, version, architecture, sha256, size }: Package): Package {
  return { name, version, architecture, sha256, size };
}
