/** Files that are there, whole, after a crash at any moment: written aside, synced, renamed. */
import { dirname } from 'node:path';
import { lazy } from '../lazy-modules.ts';

/** What is found under this ending was never finished. */
export const UNFINISHED = '.new';

export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  const aside = path + UNFINISHED;
  const handle = await lazy.files.open(aside, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await lazy.files.rename(aside, path);
  await syncDirectory(dirname(path));
}

/** A name in a directory is durable only after this. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await lazy.files.open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
