/**
 * One `git update-ref --stdin` that makes one transaction after the other. It is kept for some seconds after each, because what lands often
 * lands in a row. A transaction that fails ends it.
 */
import type { ChildProcess } from 'node:child_process';
import { AgentisoError } from '#lib/errors.ts';
import { type GitOptions, type GitOutcome, hasEnded, spawnGit, waitForChild } from './run.ts';

export const UPDATE_REF: readonly string[] = ['update-ref', '--stdin', '-z', '--create-reflog'];
/** How long it is kept for the next one. */
const KEPT_MS = 5_000;
const ANSWER_MS = 60_000;
const DONE = 'commit: ok\n';

class RefMover {
  readonly #child: ChildProcess;
  #said = '';
  #complaint = '';
  #ended: { readonly code: number | null; readonly error?: Error } | undefined;
  #onChange: () => void = () => {};

  constructor(options: GitOptions) {
    this.#child = spawnGit(UPDATE_REF, options);
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.#said += chunk;
      this.#onChange();
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint += chunk;
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#child.once('error', (error) => this.#end({ code: null, error }));
    this.#child.once('close', (code) => this.#end({ code }));
    waitForChild(this.#child, false);
  }

  get isUsable(): boolean {
    return this.#ended === undefined && !hasEnded(this.#child);
  }

  /** Commands of one transaction. Code 0: all of it has happened; otherwise nothing has. */
  async move(commands: string): Promise<GitOutcome> {
    this.#said = '';
    let timer: NodeJS.Timeout | undefined;
    const answered = new Promise<void>((resolve, reject) => {
      this.#onChange = () => {
        if (this.#ended?.error) reject(this.#ended.error);
        else if (this.#ended || this.#said.endsWith(DONE)) resolve();
      };
      timer = setTimeout(() => {
        this.#child.kill('SIGKILL');
        reject(new AgentisoError('Timeout', `git ${UPDATE_REF[0]} took longer than ${ANSWER_MS / 1_000} s`));
      }, ANSWER_MS);
      this.#onChange();
    });
    waitForChild(this.#child, true);
    this.#child.stdin?.write(`start\0${commands}commit\0`);
    try {
      await answered;
    } finally {
      clearTimeout(timer);
      this.#onChange = () => {};
      waitForChild(this.#child, false);
    }
    const code = this.#said.endsWith(DONE) ? 0 : (this.#ended?.code ?? -1);
    return { code, stdout: Buffer.from(this.#said), stderr: this.#complaint };
  }

  /** Without more input it changes nothing, and ends. */
  close(): void {
    this.#child.stdin?.end();
  }

  #end(ended: { readonly code: number | null; readonly error?: Error }): void {
    this.#ended ??= ended;
    this.#onChange();
  }
}

interface Kept {
  readonly mover: RefMover;
  readonly timer: NodeJS.Timeout;
}

/** One per repository, for whoever has the right to move its refs. */
export class RefMovers {
  readonly #kept = new Map<string, Kept>();
  readonly #keptMs: number;

  constructor({ keptMs = KEPT_MS } = {}) {
    this.#keptMs = keptMs;
  }

  /** It will be needed soon: whoever has something to do first does not wait for it later. */
  prepare(options: GitOptions): void {
    this.#take(options);
  }

  async move(commands: string, options: GitOptions): Promise<GitOutcome> {
    const { mover, isNew } = this.#take(options);
    const outcome = await mover.move(commands);
    // One that has ended while it waited has said nothing of this: another one is asked, and finds the refs as they are.
    return outcome.code === 0 || isNew || outcome.stderr !== '' ? outcome : this.move(commands, options);
  }

  /** The repository goes. */
  drop(directory: string): void {
    const kept = this.#kept.get(directory);
    this.#kept.delete(directory);
    clearTimeout(kept?.timer);
    kept?.mover.close();
  }

  close(): void {
    for (const directory of [...this.#kept.keys()]) this.drop(directory);
  }

  #take(options: GitOptions): { readonly mover: RefMover; readonly isNew: boolean } {
    const { directory } = options;
    const before = this.#kept.get(directory);
    clearTimeout(before?.timer);
    const isNew = !before?.mover.isUsable;
    const mover = before?.mover.isUsable ? before.mover : new RefMover(options);
    this.#kept.set(directory, { mover, timer: setTimeout(() => this.drop(directory), this.#keptMs).unref() });
    return { mover, isNew };
  }
}
