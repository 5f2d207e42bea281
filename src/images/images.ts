/**
 * Images of virtual machines: a kernel, an initramfs and a read-only root, made of Debian packages, in one directory that all homes of a
 * user share. They are known by name, and kept by the hash of all that went into them.
 */
import { join } from 'node:path';
import { withLock } from '#lib/file-lock.ts';
import { type BuildStep, buildImage, sha256Of } from './build.ts';
import { definitionOf, type ImageDefinition, readDefinitions } from './definitions.ts';
import { explainingDisk } from './disk-errors.ts';
import { ensureInitrd, type ImageGuestFiles } from './initrd.ts';
import { type Layout, layoutOf } from './layout.ts';
import { type Pruned, pruneImages } from './prune.ts';
import { RECIPE_VERSION } from './recipe.ts';
import { BOOT_FILE, KERNEL_FILE, type KernelRecord, ROOT_FILE, type RootRecord, readKernel, readName, readRoot } from './records.ts';
import { requireRoot, requireTools } from './tools.ts';

/** What a virtual machine is started with. */
export interface ImageFiles {
  readonly name: string;
  /** Of everything the root was made of; the guest agent is not part of it. */
  readonly hash: string;
  readonly kernel: string;
  readonly kernelRelease: string;
  /** Of this version of agentiso. */
  readonly initrd: string;
  readonly root: string;
}

export interface ImageSummary {
  readonly name: string;
  readonly description: string;
  /** Absent: it has not been built. */
  readonly built?: { readonly hash: string; readonly builtAt: string; readonly rootBytes: number; readonly kernelRelease: string };
}

export interface ImageDetails extends ImageSummary {
  readonly packages: readonly string[];
  readonly files?: ImageFiles;
  readonly root?: RootRecord;
  readonly kernel?: KernelRecord;
}

export interface BuildOptions {
  readonly onProgress?: (step: BuildStep) => void;
  readonly signal: AbortSignal;
  /** Also when the same one is there already. */
  readonly force?: boolean;
}

export interface Images {
  /** What is built and whole, without building. */
  find(name: string): Promise<ImageFiles | undefined>;
  /** The newest packages that the machine's apt sources have; what is the same as before is not made again. */
  build(name: string, options: BuildOptions): Promise<ImageFiles>;
  list(): Promise<readonly ImageSummary[]>;
  inspect(name: string): Promise<ImageDetails>;
  /** Whether the bytes of the root are still those that were built. */
  verify(name: string): Promise<boolean>;
  /** Removes what no name leads to and no machine uses, then the oldest images until the rest is within the budget. */
  prune(options: PruneOptions): Promise<Pruned>;
}

export interface PruneOptions {
  readonly budgetBytes?: number;
  readonly signal: AbortSignal;
  /** Told when somebody builds right now. */
  readonly onWait?: () => void;
}

export interface ImagesOptions {
  readonly directory: string;
  readonly guestFiles: ImageGuestFiles;
  /** Where an initramfs is written; in `directory` when absent. For those who may only read that. */
  readonly initrds?: string;
  /** Folders with definitions beside `base`. */
  readonly definitions?: readonly string[];
  /** Copied into every root; what runs this program when absent. */
  readonly node?: { readonly path: string; readonly version: string };
  readonly now?: () => Date;
}

export function openImages(options: ImagesOptions): Images {
  const { directory, guestFiles, definitions = [], now = () => new Date() } = options;
  const node = options.node ?? { path: process.execPath, version: process.version };
  const layout = layoutOf(directory);

  const find = async (name: string): Promise<ImageFiles | undefined> => {
    const parts = await findParts(layout, name);
    if (parts === undefined) return undefined;
    const kernelFolder = layout.kernel(parts.kernel.hash);
    return {
      name,
      hash: parts.root.hash,
      kernel: join(kernelFolder, KERNEL_FILE),
      kernelRelease: parts.kernel.release,
      initrd: await ensureInitrd(options.initrds ?? layout.initrds, join(kernelFolder, BOOT_FILE), guestFiles),
      root: join(layout.root(parts.root.hash), ROOT_FILE),
    };
  };

  return {
    find,
    async build(name, { onProgress = () => undefined, signal, force: isForced = false }) {
      const definition = definitionOf(await readDefinitions(definitions), name);
      await requireTools();
      requireRoot();
      const onWait = () => onProgress({ text: 'another build is under way; waiting for it' });
      const plan = { layout, definition, node, signal, isForced, now, onProgress };
      await explainingDisk(directory, () => withLock(layout.lock, { signal, onWait }, () => buildImage(plan)));
      const files = await find(name);
      if (files === undefined) throw new Error(`the image ${name} was built and is not there`);
      return files;
    },
    async list() {
      return Promise.all((await readDefinitions(definitions)).map((definition) => summarise(layout, definition)));
    },
    async inspect(name) {
      const definition = definitionOf(await readDefinitions(definitions), name);
      const parts = await findParts(layout, name);
      const files = await find(name);
      return {
        ...(await summarise(layout, definition)),
        packages: definition.packages,
        ...(files && parts && { files, root: parts.root, kernel: parts.kernel }),
      };
    },
    async verify(name) {
      const parts = await findParts(layout, name);
      return parts !== undefined && (await sha256Of(join(layout.root(parts.root.hash), ROOT_FILE))) === parts.root.rootSha256;
    },
    async prune({ budgetBytes, ...waiting }) {
      const rules = budgetBytes === undefined ? {} : { budgetBytes };
      return explainingDisk(directory, () => withLock(layout.lock, waiting, () => pruneImages(layout, rules)));
    },
  };
}

async function findParts(layout: Layout, name: string): Promise<{ root: RootRecord; kernel: KernelRecord } | undefined> {
  const pointer = await readName(layout.name(name));
  const root = pointer && (await readRoot(layout.root(pointer.hash)));
  // One of another recipe is for another version of agentiso.
  if (root?.recipe !== RECIPE_VERSION) return undefined;
  const kernel = await readKernel(layout.kernel(root.kernel));
  return kernel && { root, kernel };
}

async function summarise(layout: Layout, { name, description }: ImageDefinition): Promise<ImageSummary> {
  const parts = await findParts(layout, name);
  if (parts === undefined) return { name, description };
  const { hash, builtAt, rootBytes } = parts.root;
  return { name, description, built: { hash, builtAt, rootBytes, kernelRelease: parts.kernel.release } };
}
