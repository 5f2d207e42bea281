/** Child: fills a store directory, then writes the JSONL side index of its files (or of copies of them) for the references. */
import { copyFileSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { answer, childArgs } from '../harness/child.ts';
import type { BenchTask } from '../objects.ts';
import { fill } from '../store/fill.ts';
import { loadSubject } from '../subject.ts';

export interface PrepareArgs {
  readonly dir: string;
  readonly count: number;
  readonly indexFile: string;
  /** Copies keep a reference independent of what the store does to its own files. */
  readonly copyDir?: string;
  readonly subjectModule?: string;
}

export interface IndexLine {
  readonly path: string;
  readonly mtimeMs: number;
  readonly size: number;
  readonly ino: number;
  readonly object: BenchTask;
}

const { dir, count, indexFile, copyDir, subjectModule } = childArgs<PrepareArgs>();
const openSubject = await loadSubject(subjectModule);
const subject = await openSubject(dir);
const tasks = await fill(subject, count);
if (copyDir !== undefined) mkdirSync(copyDir);
const lines = tasks.map((object) => JSON.stringify(toIndexLine(object)));
await subject.close();
writeFileSync(indexFile, lines.join('\n'));
answer({ value: 0, count: lines.length });

function toIndexLine(object: BenchTask): IndexLine {
  const original = subject.fileOf(object);
  const path = copyDir === undefined ? original : join(copyDir, basename(original));
  if (path !== original) copyFileSync(original, path);
  const { mtimeMs, size, ino } = statSync(path);
  return { path, mtimeMs, size, ino, object };
}
