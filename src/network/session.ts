/**
 * One nft for many transactions: `nft -i` in the router namespace, which takes a transaction per line. A process of its own for each
 * costs ten times as much. Started when it is needed, replaced when it ends or has served long enough.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { backoffMs } from '#lib/backoff.ts';
import { AgentisoError, messageOf } from '#lib/errors.ts';
import { withPipes } from '#lib/with-pipes.ts';
import type { Tools } from './tools.ts';

export interface SessionOptions {
  readonly tools: Tools;
  /** Path of the router namespace. */
  readonly namespace: string;
  /** Told before each transaction: the kernel announces it under this pid. */
  readonly onPid: (pid: number) => void;
  /** Of one transaction; then the process is ended, because nobody knows what it still does. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 2_000;
/** nft keeps every line in memory as history. */
const MAX_TRANSACTIONS = 1_000;
/** nft reads its lines byte by byte: more than this is quicker in a process of its own. */
const MAX_LINE = 4_096;
const MAX_ANSWER = 64 * 1024;
const RETRY = { baseMs: 1_000, maxMs: 60_000 };
/** Success is silent, so this follows every transaction: it is answered without asking the kernel. */
const MARK = 'describe mark';
const MARK_ANSWER = /datatype mark .*32 bits$/;

type Child = ChildProcessByStdio<Writable, Readable, null>;

interface Waiting {
  readonly answer: string[];
  /** Of the answer so far; counted as it comes, for it may be many short lines. */
  bytes: number;
  readonly resolve: (answer: string) => void;
  readonly reject: (error: Error) => void;
}

export class Session {
  readonly #options: SessionOptions;
  #child: Child | undefined;
  #ended: Promise<void> = Promise.resolve();
  #waiting: Waiting | undefined;
  #transactions = 0;
  #failures = 0;
  #notBefore = 0;
  #isClosed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Whether it would take this text now. */
  takes(text: string): boolean {
    return !this.#isClosed && this.#waiting === undefined && text.length <= MAX_LINE && performance.now() >= this.#notBefore;
  }

  /** All of it or nothing. Rejects with RulesRejected when nft refuses; after any other failure nobody knows whether it was done. */
  async apply(text: string): Promise<void> {
    if (this.#transactions >= MAX_TRANSACTIONS) await this.end();
    const answer = await this.#ask(text.trim().split('\n').join('; '));
    this.#failures = 0;
    if (answer !== '') throw new AgentisoError('Unavailable', `nft refused the rules: ${answer}`, { reason: 'RulesRejected' });
  }

  /** The next transaction starts another process. */
  async end(): Promise<void> {
    if (this.#child) this.#lose(this.#child, 'it was ended');
    await this.#ended;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.end();
  }

  #ask(line: string): Promise<string> {
    const child = this.#child ?? this.#spawn();
    if (child.pid !== undefined) this.#options.onPid(child.pid);
    this.#transactions++;
    return new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => this.#lose(child, 'it does not answer'), this.#options.timeoutMs ?? TIMEOUT_MS);
      const settle =
        <T>(done: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer);
          this.#waiting = undefined;
          done(value);
        };
      this.#waiting = { answer: [], bytes: 0, resolve: settle(resolve), reject: settle(reject) };
      child.stdin.write(`${line}\n${MARK}\n`);
    });
  }

  #spawn(): Child {
    const { tools, namespace } = this.#options;
    // One pipe for both, so that what nft refuses comes before the mark. It must not outlive a daemon that was killed.
    const inside = [tools.nsenter, `--net=${namespace}`, '--', '/bin/sh', '-c', 'exec "$0" -i 2>&1', tools.nft];
    const child = this.#start([tools.setpriv, '--pdeathsig', 'KILL', '--', ...inside]);
    this.#child = child;
    this.#transactions = 0;
    // Its end says it as well.
    child.stdin.on('error', () => {});
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (this.#child === child) this.#hear(child, line);
    });
    this.#ended = new Promise((resolve) => {
      child.on('error', (error) => this.#lose(child, error.message));
      child.on('close', (code) => {
        this.#lose(child, `it ended with ${code}`);
        resolve();
      });
    });
    return child;
  }

  #start([program, ...args]: readonly [string, ...string[]]): Child {
    try {
      // Its history would be a file there. Ctrl-C at the daemon's terminal is not meant for it: the rules of those who end have to go.
      return withPipes(spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], env: { HOME: '/dev/null' }, detached: true }));
    } catch (cause) {
      this.#notBefore = performance.now() + backoffMs(this.#failures++, RETRY);
      throw new AgentisoError('Unavailable', `nft -i failed: ${messageOf(cause)}`, { reason: 'NetworkToolFailed', cause });
    }
  }

  #hear(child: Child, line: string): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    if (MARK_ANSWER.test(line)) {
      waiting.resolve(waiting.answer.join('\n').trim());
      return;
    }
    waiting.answer.push(line);
    waiting.bytes += line.length;
    if (waiting.bytes > MAX_ANSWER) this.#lose(child, 'it does not stop answering');
  }

  #lose(child: Child, why: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    child.kill('SIGKILL');
    const answer = this.#waiting?.answer.join('\n') ?? '';
    // While idle it may be ended by anybody, and another is started; who fails at work is not asked again at once.
    if (this.#waiting) this.#notBefore = performance.now() + backoffMs(this.#failures++, RETRY);
    this.#waiting?.reject(new AgentisoError('Unavailable', `nft -i failed: ${why} ${answer}`.trim(), { reason: 'NetworkToolFailed' }));
  }
}
