/** What every image is made of, and the hash that names exactly one. Pure. */
import { createHash } from 'node:crypto';
import type { Package } from './packages.ts';

/** To be raised when the same packages would give another root, or another kernel part. */
export const RECIPE_VERSION = 3;

/** Files that are younger than this are given this time, or no two builds would be the same. */
export const EPOCH_SECONDS = 1_735_689_600;

export const KERNEL_PACKAGE = 'linux-image-cloud-amd64';

/** What Debian's own bootstrap takes as its smallest system that can install packages. */
export const SYSTEM_WORDS = ['?essential', '?priority(required)', 'apt'];

/** git and what it needs to fetch, what Node needs, and what the guest's own scripts call. */
export const BASE_PACKAGES = ['git', 'ca-certificates', 'libstdc++6', 'libatomic1', 'iproute2', 'procps', 'busybox-static'];

/** They belong to no image, and nobody in one reads them. */
export const LEFT_OUT = ['/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*', '/usr/share/doc/*'];
export const KEPT_ANYWAY = ['/usr/share/doc/*/copyright'];

export interface ImageInputs {
  readonly recipe: number;
  readonly kernel: Package;
  readonly node: { readonly version: string; readonly sha256: string };
  /** The program that writes the file system: another one may lay it out differently. */
  readonly mkfs: string;
  readonly packages: readonly Package[];
}

export function imageHash({ recipe, kernel, node, mkfs, packages }: ImageInputs): string {
  const words = [`recipe ${recipe}`, `node ${node.version} ${node.sha256}`, `mkfs ${mkfs}`, ...[kernel, ...packages].map(line)];
  return shortHash(words.join('\n'));
}

/** The kernel part is shared by the images that have the same kernel, and the same busybox to start with. */
export function kernelHash(recipe: number, packages: readonly Package[]): string {
  return shortHash([`recipe ${recipe}`, ...packages.map(line)].join('\n'));
}

function line({ name, version, architecture, sha256 }: Package): string {
  return `${name} ${version} ${architecture} ${sha256}`;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
