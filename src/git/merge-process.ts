/** One `git merge-tree --stdin` that answers one merge after the other: a merge costs a fraction of a process. */
import type { ChildProcess } from 'node:child_process';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { type MergeRecord, MergeRecordReader } from './merge-records.ts';
import { type GitOptions, hasEnded, spawnGit, waitForChild } from './run.ts';

interface Waiting {
  readonly resolve: (record: MergeRecord) => void;
  readonly reject: (error: Error) => void;
}

/** What it writes lies in scratch objects and is synced when it is kept, not before. */
const ARGS = ['-c', 'core.fsync=none', 'merge-tree', '--write-tree', '--stdin', '-z', '--messages', '--allow-unrelated-histories'];
/** Of one answer. */
const ANSWER_MS = 60_000;

export class MergeProcess {
  readonly #child: ChildProcess;
  readonly #reader = new MergeRecordReader();
  /** In the order they were asked. An answer is complete only when the next one begins, so the last question is followed by an easy one. */
  readonly #waiting: (Waiting | 'filler')[] = [];
  #unsent: string[] = [];
  #complaint = '';
  #failure: Error | undefined;
  #watchdog: NodeJS.Timeout | undefined;

  constructor(options: GitOptions) {
    this.#child = spawnGit(ARGS, options);
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#onData(chunk));
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = `${this.#complaint}${chunk}`.slice(-2_000);
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#child.once('error', (error) => this.#fail(error));
    this.#child.once('close', () => this.#fail(new AgentisoError('IoError', `git merge-tree ended: ${this.#complaint.trim()}`)));
  }

  /** Both commits; their common ancestor is found by git. */
  merge(ours: string, theirs: string): Promise<MergeRecord> {
    if (this.#failure) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      const isFirst = this.#waiting.every((each) => each === 'filler');
      this.#waiting.push({ resolve, reject });
      this.#unsent.push(`${ours} ${theirs}\n`);
      // The first is answered while whoever asked goes on; those that come at once after it go together.
      if (isFirst) this.#send();
      else if (this.#unsent.length === 1) queueMicrotask(() => this.#send());
    });
  }

  get isUsable(): boolean {
    return this.#failure === undefined && !hasEnded(this.#child);
  }

  /** Nobody asks it for now. False: it cannot be asked again. */
  rest(): boolean {
    const isAnswered = !this.#waiting.some((each) => each !== 'filler');
    if (!this.isUsable || !isAnswered) return false;
    waitForChild(this.#child, false);
    return true;
  }

  wake(): void {
    waitForChild(this.#child, true);
  }

  /** What was asked is wanted no more. */
  abort(error: Error): void {
    this.#end(error);
  }

  /** Resolves when the process is gone. */
  async close(): Promise<void> {
    clearTimeout(this.#watchdog);
    if (hasEnded(this.#child)) return;
    const closed = new Promise((resolve) => this.#child.once('close', resolve));
    this.wake();
    this.#child.stdin?.end();
    await closed;
  }

  /** Everything that was asked at once, and one easy question behind it. */
  #send(): void {
    const [ours] = this.#unsent.at(-1)?.split(' ') ?? [];
    this.#waiting.push('filler');
    this.#child.stdin?.write(`${this.#unsent.join('')}${ours} ${ours}\n`);
    this.#unsent = [];
    this.#watch();
  }

  #onData(chunk: Buffer): void {
    try {
      for (const record of this.#reader.push(chunk)) {
        const next = this.#waiting.shift();
        if (next !== undefined && next !== 'filler') next.resolve(record);
      }
      this.#watch();
    } catch (error) {
      this.#end(new AgentisoError('Internal', messageOf(error)));
    }
  }

  /** Whoever waits does not wait for ever. */
  #watch(): void {
    clearTimeout(this.#watchdog);
    // The answer to the last easy question stays incomplete: nobody waits for it.
    if (!this.#waiting.some((each) => each !== 'filler')) return;
    const late = new AgentisoError('Timeout', `git merge-tree gave no answer for ${ANSWER_MS / 1_000} s`);
    this.#watchdog = setTimeout(() => this.#end(late), ANSWER_MS);
    this.#watchdog.unref();
  }

  #end(error: Error): void {
    this.#fail(error);
    this.#child.kill('SIGKILL');
  }

  #fail(error: Error): void {
    clearTimeout(this.#watchdog);
    this.#failure ??= error;
    for (const waiting of this.#waiting.splice(0)) if (waiting !== 'filler') waiting.reject(this.#failure);
  }
}
