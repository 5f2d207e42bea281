/**
 * Whether git is in the middle of changing a check-out. Files come and go one by one then, and what is missing now may be back in a
 * moment: git holds index.lock while it writes files, and a rebase takes commits away before it puts them back.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const MARKS = ['index.lock', 'rebase-merge', 'rebase-apply'];

/** The file that says so. */
export function unfinishedCheckout(folder: string): string | undefined {
  const gitFolder = gitFolderOf(folder);
  return gitFolder === undefined ? undefined : MARKS.map((mark) => join(gitFolder, mark)).find(exists);
}

/** Manifests may lie in a sub-folder of the check-out; in a second work tree `.git` is a file that names the folder. */
function gitFolderOf(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const found = join(at, '.git');
    const kind = statSync(found, { throwIfNoEntry: false });
    if (kind?.isDirectory()) return found;
    if (kind?.isFile()) return namedIn(found);
    if (at === dirname(at)) return undefined;
  }
}

function namedIn(file: string): string | undefined {
  try {
    const [, path] = /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8')) ?? [];
    return path === undefined ? undefined : resolve(dirname(file), path);
  } catch {
    return undefined;
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
