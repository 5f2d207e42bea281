/** A store directory filled ahead by a child process, so that this process' heap stays clean. */
import { join } from 'node:path';
import { measureInChild } from '../harness/child.ts';
import type { BenchContext } from '../harness/operation.ts';

export interface Prepared {
  /** The store's own directory. */
  readonly dir: string;
  /** Copies of its files in one flat folder, when asked for. */
  readonly copyDir: string;
  /** JSONL: path, mtime, size, inode and object of each copy, or else of each original. */
  readonly indexFile: string;
  readonly count: number;
}

export async function prepare({ dir, subjectModule }: BenchContext, count: number, { copies }: { copies: boolean }): Promise<Prepared> {
  const prepared = { dir: join(dir, 'ours'), copyDir: join(dir, 'copies'), indexFile: join(dir, 'index.jsonl'), count };
  const copyDir = copies ? prepared.copyDir : undefined;
  await measureInChild('prepare', { dir: prepared.dir, indexFile: prepared.indexFile, count, copyDir, subjectModule });
  return prepared;
}
