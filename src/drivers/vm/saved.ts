/**
 * What was in the memory of a suspended machine, in its workspace's folder: `saved/`. With this name it is whole and belongs to the disk as it is: it
 * is made beside its place and renamed when all of it is on the disk, and gone before the machine goes on, because from then on the disk changes.
 *
 * The files that the machine had open lie beside it under second names: they are there when it is resumed, whoever removes the image or the tools.
 */
import { existsSync, statSync } from 'node:fs';
import { copyFile, link, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '#lib/sync-path.ts';
import type { MachineFiles } from './launch.ts';

/** As SAVED_STATE says. */
const WHOLE = 'saved';
const MAKING = 'saved.new';
const LEAVING = 'saved.old';
const STATE = 'state';
const KEPT = ['kernel', 'initrd', 'root', 'tools'] as const;

type KeptFiles = Omit<MachineFiles, 'disk' | 'memory'>;

export function isSaved(directory: string): boolean {
  return existsSync(join(directory, WHOLE));
}

/** Of what is saved; the files that others have too are not counted. */
export function savedState(directory: string): { readonly path: string; readonly bytes: number } {
  const path = join(directory, WHOLE, STATE);
  return { path, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 };
}

export function savedFiles(directory: string): KeptFiles {
  const at = (name: (typeof KEPT)[number]) => join(directory, WHOLE, name);
  return { kernel: at('kernel'), initrd: at('initrd'), root: at('root'), ...(existsSync(at('tools')) && { tools: at('tools') }) };
}

/** `write` is given the path of the state. Nothing is left when it rejects. */
export async function save(directory: string, files: KeptFiles, write: (path: string) => Promise<void>): Promise<void> {
  const making = join(directory, MAKING);
  await rm(making, { recursive: true, force: true });
  await mkdir(making, { mode: 0o700 });
  try {
    for (const name of KEPT) if (files[name] !== undefined) await keep(files[name], join(making, name));
    const state = join(making, STATE);
    await write(state);
    await syncPath(state);
    await syncPath(making);
    await rename(making, join(directory, WHOLE));
    await syncPath(directory);
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    throw error;
  }
}

/** It is not there any more when this resolves, whatever happens to this machine then. */
export async function discard(directory: string): Promise<void> {
  const leaving = join(directory, LEAVING);
  await rm(leaving, { recursive: true, force: true });
  if (isSaved(directory)) {
    await rename(join(directory, WHOLE), leaving);
    await syncPath(directory);
    await rm(leaving, { recursive: true, force: true });
  }
  await rm(join(directory, MAKING), { recursive: true, force: true });
}

/** A second name costs nothing, and is not to be had on another file system. */
async function keep(file: string, as: string): Promise<void> {
  await link(file, as).catch(async (error: NodeJS.ErrnoException) => {
    if (!['EXDEV', 'EPERM', 'EMLINK'].includes(error.code ?? '')) throw error;
    await copyFile(file, as);
  });
}
