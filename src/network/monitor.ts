/** Hears of every transaction, ours and others', through `nft monitor` in the router namespace. Restarted when it ends. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { backoffMs } from '#lib/backoff.ts';
import type { Logger } from '#lib/log.ts';
import { withPipes } from '#lib/with-pipes.ts';
import { type Announcement, readChanges, readGeneration } from './proof.ts';
import type { Tools } from './tools.ts';

export interface MonitorOptions {
  readonly tools: Tools;
  /** Path of the router namespace. */
  readonly namespace: string;
  readonly log: Logger;
  readonly isOwn: (pid: number) => boolean;
  readonly onForeignChange: () => void;
}

const RESTART = { baseMs: 200, maxMs: 30_000 };
/** More changes in one transaction are not kept: all rules are read then. */
const MAX_CHANGES = 20_000;

/** A wait for the next transaction, whoever makes it. */
export interface Listening {
  /** What the judge said; false when nothing is heard in this time from now. Ends the wait. */
  within(timeoutMs: number): Promise<boolean>;
}

/** Whether a transaction is the one waited for: that is ours, whatever its pid. */
export type Judge = (announcement: Announcement) => boolean;

export class Monitor {
  readonly #options: MonitorOptions;
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #isOpen = false;
  #generation: number | undefined;
  #changes: string[] = [];
  #judge: Judge | undefined;

  constructor(options: MonitorOptions) {
    this.#options = options;
  }

  /** The last one heard of; undefined before the first, and when one may have been missed. */
  get generation(): number | undefined {
    return this.#generation;
  }

  /** One at a time, from before the transaction is sent. */
  listen(judge: Judge): Listening {
    let resolve: (verdict: boolean) => void = () => {};
    const promise = new Promise<boolean>((settle) => {
      resolve = settle;
    });
    const mine: Judge = (announcement) => {
      this.#judge = undefined;
      const verdict = judge(announcement);
      resolve(verdict);
      return verdict;
    };
    this.#judge = mine;
    return {
      within: async (timeoutMs) => {
        const timer = setTimeout(() => resolve(false), timeoutMs);
        const verdict = await promise;
        clearTimeout(timer);
        if (this.#judge === mine) this.#judge = undefined;
        return verdict;
      },
    };
  }

  start(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#spawn();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  #spawn(): void {
    const { tools, namespace, log } = this.#options;
    // It must not outlive a daemon that was killed: it would hold the namespace for ever.
    // Text only: `nft -j monitor` of 1.0.6 crashes more often. The text of ranges is wrong, and may end it as well.
    const args = ['--pdeathsig', 'KILL', '--', tools.nsenter, `--net=${namespace}`, '--', tools.nft, 'monitor'];
    const child = this.#start(args);
    if (!child) return;
    this.#child = child;
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (this.#child === child) this.#hear(line);
    });
    this.#ended = new Promise((resolve) => {
      child.on('error', (error) => log.warn({ err: error }, 'nft monitor cannot start'));
      child.on('close', () => {
        this.#forget();
        resolve();
        if (this.#isOpen) this.#restart();
      });
    });
  }

  #start(args: readonly string[]): ChildProcessByStdio<null, Readable, null> | undefined {
    const { tools, log } = this.#options;
    try {
      // Ctrl-C at the daemon's terminal is not meant for it: whoever started it ends it.
      return withPipes(spawn(tools.setpriv, args, { stdio: ['ignore', 'pipe', 'ignore'], detached: true }));
    } catch (error) {
      log.warn({ err: error }, 'nft monitor cannot start');
      this.#restart();
      return undefined;
    }
  }

  #hear(line: string): void {
    const last = readGeneration(line);
    if (last) this.#announce({ ...last, changes: this.#changes });
    else if (line.startsWith('# ERROR')) this.#miss();
    else if (this.#changes.length < MAX_CHANGES) this.#changes.push(...readChanges(line));
  }

  #announce(announcement: Announcement): void {
    this.#failures = 0;
    this.#changes = [];
    this.#generation = announcement.generation;
    const isAwaited = this.#judge?.(announcement) ?? false;
    if (!isAwaited && !this.#options.isOwn(announcement.pid)) this.#options.onForeignChange();
  }

  /** The kernel had more to tell than fitted. */
  #miss(): void {
    this.#forget();
    this.#options.onForeignChange();
  }

  #forget(): void {
    this.#generation = undefined;
    this.#changes = [];
  }

  #restart(): void {
    const delayMs = backoffMs(this.#failures++, RESTART);
    this.#options.log.warn({ delayMs }, 'nft monitor ended, starting it again');
    this.#timer = setTimeout(() => {
      this.#spawn();
      // Whatever happened meanwhile was not heard.
      this.#options.onForeignChange();
    }, delayMs).unref();
  }
}
