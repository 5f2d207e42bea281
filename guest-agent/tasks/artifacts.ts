/**
 * Whole logs of tasks whose output is more than a Task takes: `artifacts/<task uid>-<attempt>.out` and `.err` in the state directory. Beside
 * them, as `.jsonl`, the transcripts of prompts, which their runner writes.
 */
import { constants, createWriteStream, existsSync, mkdirSync, type WriteStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { drained } from '#lib/drained.ts';
import { makeFolder } from '#lib/make-folder.ts';
import { type AttemptKey, MAX_ARTIFACT_BYTES, type OutputName } from '#protocol/control.ts';
import { lazy } from '../lazy-modules.ts';
import { syncDirectory } from '../state/durable-file.ts';

/** For four tasks at once that all write as much as they may, until the host has it. */
const MAX_FOLDER_BYTES = 8 * MAX_ARTIFACT_BYTES;
/** What may wait in memory for the disk, of each output; whoever writes faster is held back. */
const MAX_WAITING_BYTES = 1024 * 1024;
const ENDINGS = { stdout: 'out', stderr: 'err', transcript: 'jsonl' } as const;
const NAME = /^(?<taskUid>.+)-(?<attempt>\d+)\.(?:out|err|jsonl)$/;

/** What a command writes by itself. */
export type StreamName = Exclude<OutputName, 'transcript'>;

export interface TaskLogs {
  /** A promise: hold back what follows until it resolves. It never rejects. */
  write(output: StreamName, chunk: Buffer): Promise<void> | undefined;
  /** Keeps the logs of these outputs, on disk when it resolves, and says how large they are; the others are already whole in the result. */
  end(kept: readonly StreamName[]): Promise<readonly { readonly name: StreamName; readonly sizeBytes: number }[]>;
}

export class Artifacts {
  readonly #directory: string;
  readonly #maxFolderBytes: number;
  readonly #warn: (text: string) => void;

  constructor(stateDir: string, warn: (text: string) => void, maxFolderBytes = MAX_FOLDER_BYTES) {
    this.#directory = join(stateDir, 'artifacts');
    this.#maxFolderBytes = maxFolderBytes;
    this.#warn = warn;
  }

  open(key: AttemptKey): TaskLogs {
    const logs = { stdout: this.#openLog(key, 'stdout'), stderr: this.#openLog(key, 'stderr') };
    return {
      write: (output, chunk) => logs[output].write(chunk),
      end: async (kept) => {
        const names = ['stdout', 'stderr'] as const;
        const ended = await Promise.all(names.map(async (name) => ({ name, sizeBytes: await logs[name].end(kept.includes(name)) })));
        if (kept.length > 0) await this.#settle().catch((error: unknown) => this.#report(error));
        return ended.flatMap(({ name, sizeBytes }) => (sizeBytes === undefined ? [] : [{ name, sizeBytes }]));
      },
    };
  }

  /** Where the transcript of an attempt is to be written. */
  transcriptPath(key: AttemptKey): string {
    makeFolder(this.#directory);
    return artifactPath(this.#directory, key, 'transcript');
  }

  /** What its runner has left, on disk when it resolves; undefined: nothing. */
  async keepTranscript(key: AttemptKey): Promise<{ readonly name: 'transcript'; readonly sizeBytes: number } | undefined> {
    try {
      const sizeBytes = await syncFile(artifactPath(this.#directory, key, 'transcript'));
      await syncDirectory(this.#directory);
      return sizeBytes === 0 ? undefined : { name: 'transcript', sizeBytes };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#report(error);
      return undefined;
    }
  }

  /** The host has them, or nobody wants them. */
  async remove(key: AttemptKey): Promise<void> {
    for (const name of ['stdout', 'stderr', 'transcript'] as const) {
      const path = artifactPath(this.#directory, key, name);
      // Most tasks leave none: to look is nothing against a way to another thread and back.
      if (existsSync(path)) await lazy.files.rm(path, { force: true });
    }
  }

  /** What a crash left between the acknowledgement and the removal. */
  async removeWhere(isSettled: (key: AttemptKey) => boolean): Promise<void> {
    if (!existsSync(this.#directory)) return;
    for (const file of await lazy.files.readdir(this.#directory)) {
      const { taskUid, attempt } = NAME.exec(file)?.groups ?? {};
      if (taskUid !== undefined && isSettled({ taskUid, attempt: Number(attempt) }))
        await this.remove({ taskUid, attempt: Number(attempt) });
    }
  }

  #openLog(key: AttemptKey, name: StreamName): LogFile {
    return new LogFile(artifactPath(this.#directory, key, name), this.#directory, (error) => this.#report(error));
  }

  /** Oldest first. */
  async #settle(): Promise<void> {
    await syncDirectory(this.#directory);
    const paths = (await lazy.files.readdir(this.#directory)).map((name) => join(this.#directory, name));
    const files = await Promise.all(paths.map(async (path) => ({ path, ...(await statOrEmpty(path)) })));
    let room = this.#maxFolderBytes;
    for (const { path, size } of files.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
      room -= size;
      if (room < 0) await lazy.files.rm(path, { force: true });
    }
  }

  #report(error: unknown): void {
    this.#warn(`a task's log could not be kept: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** For reading. What an agent has put in its place is not followed anywhere else. */
export function openArtifact(stateDir: string, key: AttemptKey, name: OutputName): Promise<FileHandle> {
  return lazy.files.open(
    artifactPath(join(stateDir, 'artifacts'), key, name),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
}

function artifactPath(directory: string, { taskUid, attempt }: AttemptKey, name: OutputName): string {
  return join(directory, `${taskUid}-${attempt}.${ENDINGS[name]}`);
}

/** A log that cannot be written costs the log, never the task. */
class LogFile {
  readonly #path: string;
  readonly #directory: string;
  readonly #report: (error: unknown) => void;
  #stream: WriteStream | undefined;
  #room = MAX_ARTIFACT_BYTES;
  #hasFailed = false;

  constructor(path: string, directory: string, report: (error: unknown) => void) {
    this.#path = path;
    this.#directory = directory;
    this.#report = report;
  }

  /** Called from the events of a command: throws nothing. */
  write(chunk: Buffer): Promise<void> | undefined {
    if (this.#room === 0) return undefined;
    try {
      return this.#keep(chunk);
    } catch (error) {
      this.#giveUp(error);
      return undefined;
    }
  }

  /** Its size; undefined when it was not to be kept, or could not be. */
  async end(isKept: boolean): Promise<number | undefined> {
    const stream = this.#stream;
    if (stream === undefined) return undefined;
    stream.end();
    await finished(stream).catch(() => {});
    if (isKept && !this.#hasFailed) return syncFile(this.#path).catch((error: unknown) => this.#giveUp(error));
    await lazy.files.rm(this.#path, { force: true });
    return undefined;
  }

  #keep(chunk: Buffer): Promise<void> | undefined {
    this.#stream ??= this.#open();
    const kept = chunk.subarray(0, this.#room);
    this.#room -= kept.length;
    return this.#stream.write(kept) ? undefined : drained(this.#stream);
  }

  #open(): WriteStream {
    if (!existsSync(this.#directory)) mkdirSync(this.#directory, { mode: 0o700 });
    const stream = createWriteStream(this.#path, { mode: 0o600, highWaterMark: MAX_WAITING_BYTES });
    stream.on('error', (error) => this.#giveUp(error));
    return stream;
  }

  #giveUp(error: unknown): undefined {
    this.#room = 0;
    this.#hasFailed = true;
    this.#report(error);
    return undefined;
  }
}

/** Its size. */
async function syncFile(path: string): Promise<number> {
  const handle = await lazy.files.open(path, 'r+');
  try {
    await handle.sync();
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

async function statOrEmpty(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }> {
  try {
    return await lazy.files.stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { size: 0, mtimeMs: 0 };
    throw error;
  }
}
