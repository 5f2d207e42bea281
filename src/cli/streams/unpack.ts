/** Puts what an agent sends into a place of this machine, and never outside of it: an agent is not to be trusted. */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { TarEntry } from './tar-header.ts';
import type { TarSink } from './tar-read.ts';

export interface Unpacking {
  /** The first part of every entry's name, which `target` takes the place of; empty for none. */
  readonly base: string;
  readonly target: string;
  readonly warn: (text: string) => void;
}

/** Where an entry goes, relative to the target; undefined for what would go elsewhere. Pure. */
export function placeOf(name: string, base: string): string | undefined {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (name.startsWith('/') || parts.includes('..') || name.includes('\0')) return undefined;
  if (base === '') return parts.join('/');
  return parts[0] === base ? parts.slice(1).join('/') : undefined;
}

const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;

export function unpackInto({ base, target, warn }: Unpacking): TarSink & { readonly count: () => number } {
  let file: FileHandle | undefined;
  let count = 0;
  const write = async (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; ) at += (await file?.write(bytes, at))?.bytesWritten ?? bytes.length;
  };
  return {
    count: () => count,
    async entry(entry) {
      const place = placeOf(entry.name, base);
      if (place === undefined) throw new Error(`the agent sent a file for a place that was not asked for: ${JSON.stringify(entry.name)}`);
      if (entry.type === 'other') {
        warn(`skipping ${JSON.stringify(entry.name)}: it is neither a file nor a folder\n`);
        return undefined;
      }
      const path = place === '' ? target : join(target, place);
      count++;
      if (entry.type === 'folder') await makeFolder(path, target);
      else file = await create(path, target, entry);
      return write;
    },
    async end() {
      await file?.close();
      file = undefined;
    },
  };
}

async function create(path: string, target: string, { mode }: TarEntry): Promise<FileHandle> {
  if (path !== target) await makeFolder(dirname(path), target);
  return open(path, WRITE, mode & 0o777);
}

/** A link on the way may lead anywhere. */
async function makeFolder(path: string, target: string): Promise<void> {
  await mkdir(path, { recursive: true });
  const [real, root] = await Promise.all([realpath(path), realpath(target)]);
  if (real !== root && !real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`)) {
    throw new Error(`${path} leads out of ${target}`);
  }
}
