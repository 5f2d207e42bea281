/** Makes a home ready for an agent: the folders that its environment names, and its configuration, each file whole or as it was. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { HomeFile } from './backend.ts';
import { homeFolders } from './environment.ts';

export async function writeHome(home: string, files: readonly HomeFile[]): Promise<void> {
  for (const folder of homeFolders(home)) await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const { path, text } of files) await writeWhole(join(home, path), text);
}

/** Another agent with the same home may be reading it. */
async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, text, { mode: 0o600 });
  await rename(draft, path);
}
