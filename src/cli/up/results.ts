/** What became of each task, as files: `summary.json`, and a folder for each task with `stdout.txt`, `stderr.txt` and `meta.json`. */
import { createWriteStream, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DEFAULT_NAMESPACE } from '#api/meta.ts';
import type { Task } from '#api/types.ts';
import type { Connection } from '#client/connection.ts';
import { isCode } from '#lib/errors.ts';
import { makeFolder } from '#lib/make-folder.ts';
import { type Board, isFinished, tasksOn } from '../follow-board.ts';
import { taskOutput } from '../read/task-output.ts';

export interface Results {
  readonly directory: string;
  readonly board: Board;
  readonly exitCode: number;
  readonly startedAt: Date;
  readonly finishedAt: Date;
}

/** The summary comes last: who finds it finds everything it speaks of. */
export async function writeResults(connection: Connection, { directory, board, ...run }: Results): Promise<void> {
  const tasks = [...tasksOn(board)].sort((a, b) => folderOf(a).localeCompare(folderOf(b)));
  for (const task of tasks) await writeTask(connection, task, join(directory, folderOf(task)));
  writeJson(join(directory, 'summary.json'), summaryOf(tasks, run));
}

export function summaryOf(tasks: readonly Task[], { exitCode, startedAt, finishedAt }: Omit<Results, 'directory' | 'board'>) {
  const inPhase = (phase: string) => tasks.filter(({ status }) => status?.phase === phase).length;
  return {
    exitCode,
    startedAt: startedAt.toISOString(),
    finishedAt: finishedAt.toISOString(),
    total: tasks.length,
    succeeded: inPhase('Succeeded'),
    failed: inPhase('Failed'),
    unfinished: tasks.filter((task) => !isFinished(task)).length,
    tasks: tasks.map((task) => ({ ...metaOf(task), folder: folderOf(task) })),
  };
}

/** What is known of a task beside what it printed. */
export function metaOf({ metadata: { name, namespace, uid }, spec, status }: Task) {
  const { phase = 'Pending', reason, owner, attempt, startedAt, finishedAt, result } = status ?? {};
  return {
    name,
    namespace,
    uid,
    team: spec.team,
    phase,
    reason,
    owner,
    attempt,
    exitCode: result?.exitCode,
    elapsedSeconds: result?.elapsedSeconds,
    commit: result?.commit,
    startedAt,
    finishedAt,
  };
}

/** Names are unique in a namespace; only the usual one goes without saying. */
function folderOf({ metadata: { name, namespace } }: Task): string {
  return namespace === DEFAULT_NAMESPACE ? name : `${namespace}/${name}`;
}

async function writeTask(connection: Connection, task: Task, folder: string): Promise<void> {
  makeFolder(resolve(folder), 0o777);
  for (const stream of ['stdout', 'stderr'] as const) await writeOutput(connection, task, { stream, path: join(folder, `${stream}.txt`) });
  writeJson(join(folder, 'meta.json'), metaOf(task));
}

interface OutputFile {
  readonly stream: 'stdout' | 'stderr';
  readonly path: string;
}

/** A task that never ran has printed nothing. */
async function writeOutput(connection: Connection, { metadata: { namespace, name } }: Task, { stream, path }: OutputFile): Promise<void> {
  // Whoever was interrupted wants what there is all the more.
  const { signal } = new AbortController();
  try {
    await pipeline(Readable.from(taskOutput(connection, { namespace, name, stream, signal })), createWriteStream(path));
  } catch (error) {
    if (!isCode(error, 'NotFound')) throw error;
    writeFileSync(path, '');
  }
}

/** Whole or not there. */
function writeJson(path: string, value: unknown): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(value, undefined, 2)}\n`);
  renameSync(`${path}.new`, path);
}
