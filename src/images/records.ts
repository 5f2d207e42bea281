/** What is written beside the parts of an image, so that later nobody has to guess what they are and whether they are whole. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Package } from './packages.ts';
import { sizeOf } from './whole-file.ts';

export interface KernelRecord {
  readonly hash: string;
  readonly release: string;
  readonly package: Package;
  readonly vmlinuxBytes: number;
  readonly bootBytes: number;
}

export interface RootRecord {
  readonly hash: string;
  readonly recipe: number;
  readonly kernel: string;
  readonly node: { readonly version: string; readonly sha256: string };
  readonly mkfs: string;
  readonly builtAt: string;
  readonly rootBytes: number;
  readonly rootSha256: string;
  readonly packages: readonly Package[];
}

export interface NameRecord {
  readonly name: string;
  readonly hash: string;
}

export const ROOT_FILE = 'root.ext4';
export const KERNEL_FILE = 'vmlinux';
export const BOOT_FILE = 'boot.cpio';
export const RECORD_FILE = 'record.json';

/** undefined: not there, or not whole. */
export async function readRoot(folder: string): Promise<RootRecord | undefined> {
  const record = await readRecord<RootRecord>(join(folder, RECORD_FILE), ['hash', 'kernel', 'rootSha256']);
  if (record === undefined || (await sizeOf(join(folder, ROOT_FILE))) !== record.rootBytes) return undefined;
  return record;
}

/** undefined: not there, or not whole. */
export async function readKernel(folder: string): Promise<KernelRecord | undefined> {
  const record = await readRecord<KernelRecord>(join(folder, RECORD_FILE), ['hash', 'release']);
  if (record === undefined) return undefined;
  const isWhole =
    (await sizeOf(join(folder, KERNEL_FILE))) === record.vmlinuxBytes && (await sizeOf(join(folder, BOOT_FILE))) === record.bootBytes;
  return isWhole ? record : undefined;
}

export async function readName(path: string): Promise<NameRecord | undefined> {
  return readRecord<NameRecord>(path, ['name', 'hash']);
}

export function recordText(record: KernelRecord | RootRecord | NameRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

/** They are ours, but somebody may have cut one short: without its words it counts as absent, and the next build makes it again. */
async function readRecord<T>(path: string, words: readonly (keyof T & string)[]): Promise<T | undefined> {
  try {
    const record = JSON.parse(await readFile(path, 'utf8')) as T;
    return words.every((word) => typeof record?.[word] === 'string') ? record : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
