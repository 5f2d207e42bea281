/**
 * Real pipes for commands. What Node itself puts between two processes are sockets, and those cannot be opened again: `> /dev/stderr`
 * would fail in every command. Node cannot make pipes, `mkfifo` can; one that has run dry is used again.
 */
import { closeSync, constants, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { lazy } from '../lazy-modules.ts';
import { report } from '../report.ts';

/** Made at once, because most of the cost is the process that makes them: as many as the commands need that an agent has in work. */
const BATCH = 8;
/** More than that are not kept for later. */
const MAX_FREE = 64;

export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
  /** `isDry`: nobody holds the writing end any more, so that the next user gets nothing of this one. The ends are the caller's to close. */
  giveBack(isDry: boolean): void;
}

export class PipePool {
  readonly #directory: string;
  /** A guest that was replaced may still be using its own. */
  readonly #prefix = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
  #free: string[] = [];
  #made = 0;
  #isUsable = true;
  #making: Promise<void> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** undefined: here are no pipes to be had. */
  async take(count: number): Promise<readonly Pipe[] | undefined> {
    while (this.#isUsable && this.#free.length < count) await this.#makeMore();
    return this.#isUsable ? this.#free.splice(0, count).map((path) => this.#open(path)) : undefined;
  }

  /** Commands that begin together wait for the same process. */
  #makeMore(): Promise<void> {
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #make(): Promise<void> {
    try {
      if (this.#made === 0) this.#clear();
      const paths = Array.from({ length: BATCH }, () => join(this.#directory, `${this.#prefix}-${++this.#made}`));
      await promisify(lazy.childProcess.execFile)('mkfifo', ['-m', '600', ...paths]);
      this.#free.push(...paths);
    } catch (error) {
      this.#isUsable = false;
      report(`commands get sockets in place of pipes: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  /** What an earlier guest has left is not known to be dry. */
  #clear(): void {
    rmSync(this.#directory, { recursive: true, force: true });
    // Only the last part of the path: a state directory that is gone must not come back.
    mkdirSync(this.#directory, { mode: 0o700 });
  }

  /** The reading end first and without waiting, for a writing end opens only where somebody reads. */
  #open(path: string): Pipe {
    const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      // By the descriptor, not by the path: should the path mean something else by now, this would wait for its reader for ever.
      const writeEnd = openSync(`/proc/self/fd/${readEnd}`, constants.O_WRONLY);
      return { readEnd, writeEnd, giveBack: (isDry) => this.#giveBack(path, isDry) };
    } catch (error) {
      closeSync(readEnd);
      throw error;
    }
  }

  #giveBack(path: string, isDry: boolean): void {
    if (isDry && this.#free.length < MAX_FREE) this.#free.push(path);
    else rmSync(path, { force: true });
  }
}
