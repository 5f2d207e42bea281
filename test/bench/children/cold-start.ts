/** Child: ms to have all objects in memory, by our store or by the least a store of files can do. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { answer, childArgs } from '../harness/child.ts';
import type { BenchTask } from '../objects.ts';
import { loadSubject } from '../subject.ts';
import type { IndexLine } from './prepare.ts';

export interface ColdStartArgs {
  readonly contestant: 'ours' | 'floor';
  readonly dir: string;
  readonly indexFile: string;
  readonly subjectModule?: string;
}

const args = childArgs<ColdStartArgs>();
globalThis.gc?.();
answer(args.contestant === 'ours' ? await timeOurs() : timeFloor());
process.exit(0);

async function timeOurs(): Promise<{ value: number; count: number }> {
  const openSubject = await loadSubject(args.subjectModule);
  const start = performance.now();
  const subject = await openSubject(args.dir);
  const count = subject.count();
  const value = performance.now() - start;
  await subject.close();
  return { value, count };
}

/** Lists the folder, because a store must find new files; then trusts the index for every file whose stat is as recorded. */
function timeFloor(): { value: number; count: number } {
  const start = performance.now();
  const indexed = new Map<string, IndexLine>();
  for (const text of readFileSync(args.indexFile, 'utf8').split('\n')) {
    const line = JSON.parse(text) as IndexLine;
    indexed.set(line.path, line);
  }
  const objects = new Map<string, BenchTask>();
  for (const name of readdirSync(args.dir)) {
    const path = join(args.dir, name);
    const { mtimeMs, size, ino } = statSync(path);
    const line = indexed.get(path);
    if (line && line.mtimeMs === mtimeMs && line.size === size && line.ino === ino) objects.set(path, line.object);
  }
  return { value: performance.now() - start, count: objects.size };
}
