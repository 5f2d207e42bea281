/** A tree of many small files, the base of workspaces: folders of 50 with 1 KiB each. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PER_FOLDER = 50;
const BYTES = 1024;

export function makeTree(path: string, files: number): string {
  for (let index = 0; index < files; index += 1) {
    const folder = join(path, `folder-${Math.floor(index / PER_FOLDER)}`);
    if (index % PER_FOLDER === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `file-${index}`), `${index}\n`.padEnd(BYTES, 'agentiso '));
  }
  return path;
}
