/** Whole logs of tasks whose output is more than a result carries: `artifacts/<task uid>-<attempt>.out` and `.err` in the state directory. */
import { createWriteStream, existsSync, mkdirSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { AttemptKey } from '#protocol/control.ts';
import { lazy } from '../lazy-modules.ts';

const MAX_LOG_BYTES = 64 * 1024 * 1024;
const MAX_FOLDER_BYTES = 256 * 1024 * 1024;
/** What may wait in memory for the disk; a command that writes faster gets a log that ends there. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

export type OutputName = 'stdout' | 'stderr';

export interface TaskLogs {
  write(output: OutputName, chunk: Buffer): void;
  /** Keeps the logs of these outputs; the others are already whole in the result. */
  end(kept: readonly OutputName[]): Promise<void>;
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
    const logs = { stdout: this.#openLog(key, 'out'), stderr: this.#openLog(key, 'err') };
    return {
      write: (output, chunk) => logs[output].write(chunk),
      end: async (kept) => {
        await logs.stdout.end(kept.includes('stdout'));
        await logs.stderr.end(kept.includes('stderr'));
        if (kept.length > 0) await this.#prune().catch((error: unknown) => this.#report(error));
      },
    };
  }

  #openLog({ taskUid, attempt }: AttemptKey, ending: string): LogFile {
    return new LogFile(join(this.#directory, `${taskUid}-${attempt}.${ending}`), this.#directory, (error) => this.#report(error));
  }

  /** Oldest first. */
  async #prune(): Promise<void> {
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

/** A log that cannot be written costs the log, never the task. */
class LogFile {
  readonly #path: string;
  readonly #directory: string;
  readonly #report: (error: unknown) => void;
  #stream: WriteStream | undefined;
  #room = MAX_LOG_BYTES;

  constructor(path: string, directory: string, report: (error: unknown) => void) {
    this.#path = path;
    this.#directory = directory;
    this.#report = report;
  }

  /** Called from the events of a command: throws nothing. */
  write(chunk: Buffer): void {
    if (this.#room === 0) return;
    try {
      this.#keep(chunk);
    } catch (error) {
      this.#giveUp(error);
    }
  }

  async end(isKept: boolean): Promise<void> {
    const stream = this.#stream;
    if (stream === undefined) return;
    stream.end();
    await finished(stream).catch(() => {});
    if (!isKept) await lazy.files.rm(this.#path, { force: true });
  }

  #keep(chunk: Buffer): void {
    this.#stream ??= this.#open();
    if (this.#stream.writableLength > MAX_WAITING_BYTES) {
      this.#room = 0;
      return;
    }
    const kept = chunk.subarray(0, this.#room);
    this.#room -= kept.length;
    this.#stream.write(kept);
  }

  #open(): WriteStream {
    if (!existsSync(this.#directory)) mkdirSync(this.#directory, { mode: 0o700 });
    const stream = createWriteStream(this.#path, { mode: 0o600 });
    stream.on('error', (error) => this.#giveUp(error));
    return stream;
  }

  #giveUp(error: unknown): void {
    this.#room = 0;
    this.#report(error);
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
