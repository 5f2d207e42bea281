/** Where the system's programs are. Absolute: a daemon's PATH often lacks the sbin directories, and names are no promise. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

export interface Tools {
  readonly ip: string;
  readonly nft: string;
  readonly nsenter: string;
  readonly setpriv: string;
  readonly unshare: string;
}

const NAMES: readonly (keyof Tools)[] = ['ip', 'nft', 'nsenter', 'setpriv', 'unshare'];
const DIRECTORIES = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/local/bin', '/usr/bin', '/bin'];

export function findTools(directories: readonly string[] = DIRECTORIES): { readonly tools?: Tools; readonly missing: readonly string[] } {
  const found = NAMES.map((name) => [name, directories.map((directory) => join(directory, name)).find(isExecutable)] as const);
  const missing = found.filter(([, path]) => path === undefined).map(([name]) => name);
  return missing.length > 0 ? { missing } : { tools: Object.fromEntries(found) as unknown as Tools, missing };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
