/** Directories for benchmark data, on a real disk and gone when the process ends, whatever ends it. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileSystemOf } from './machine.ts';
import { BenchError } from './operation.ts';

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));
const MEMORY_FILE_SYSTEMS = new Set(['tmpfs', 'ramfs', 'devtmpfs']);

export interface Scratch {
  readonly dir: string;
  remove(): void;
}

export function makeScratch(): Scratch {
  const dir = mkdtempSync(join(diskRoot(), 'agentiso-bench-'));
  const remove = (): void => rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', remove);
  return {
    dir,
    remove() {
      process.off('exit', remove);
      remove();
    },
  };
}

/** A sync on tmpfs costs nothing, so every durable number taken there would be false. */
function diskRoot(): string {
  const candidates = [tmpdir(), '/var/tmp', dirname(REPOSITORY)].map((dir) => realpathSync(dir));
  const root = candidates.find((dir) => !MEMORY_FILE_SYSTEMS.has(fileSystemOf(dir)));
  if (root === undefined) throw new BenchError('no temporary directory on a disk: set TMPDIR to one that is not tmpfs');
  return root;
}
