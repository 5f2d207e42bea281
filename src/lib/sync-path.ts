import { open } from 'node:fs/promises';

/** Of a file, what it holds is on disk after this; of a folder, the names in it. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
