/** Puts files into a folder where there are none of their names. What exists is never changed. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { makeFolder } from '#lib/make-folder.ts';
import type { ScaffoldFile } from './scaffold.ts';

export interface WrittenFile {
  readonly path: string;
  readonly outcome: 'created' | 'exists';
  /** A line it should have and has not. */
  readonly missingLine?: string;
}

/** Looks at everything first: either nothing is in the way, or nothing is written. */
export function writeFiles(folder: string, files: readonly ScaffoldFile[]): readonly WrittenFile[] {
  if (kindAt(folder) === 'file') throw inTheWay(folder, 'a file, where a folder is to be');
  for (const { name } of files) {
    const path = join(folder, name);
    if (kindAt(path) === 'folder') throw inTheWay(path, 'a folder, where a file is to be');
  }
  attempt(folder, () => makeFolder(resolve(folder), 0o777));
  return files.map((file) => writeOne(join(folder, file.name), file));
}

function writeOne(path: string, { text, line }: ScaffoldFile): WrittenFile {
  const isNew = attempt(path, () => {
    try {
      // Exclusively: what came into being meanwhile is somebody's too.
      writeFileSync(path, text, { flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    }
  });
  if (isNew) return { path, outcome: 'created' };
  const isThere = line === undefined || readLines(path).includes(line.replace(/\/$/, ''));
  return { path, outcome: 'exists', ...(isThere ? {} : { missingLine: line }) };
}

/** Without the slashes around folders, which mean the same here. */
function readLines(path: string): readonly string[] {
  const text = attempt(path, () => readFileSync(path, 'utf8'));
  return text.split('\n').map((line) => line.trim().replace(/^\/|\/$/g, ''));
}

function kindAt(path: string): 'file' | 'folder' | undefined {
  const found = attempt(path, () => {
    try {
      return statSync(path, { throwIfNoEntry: false });
    } catch (error) {
      // Something on the way is a file: making the folder will say so.
      if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
      throw error;
    }
  });
  if (!found) return undefined;
  return found.isDirectory() ? 'folder' : 'file';
}

function inTheWay(path: string, what: string): AgentisoError {
  return new AgentisoError('AlreadyExists', `${path} is ${what}; move it away or choose another folder`);
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new AgentisoError('IoError', `${path}: ${messageOf(error)}`, { cause: error });
  }
}
