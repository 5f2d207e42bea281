/**
 * Regular expressions on a thread of their own. Some patterns need longer than the universe lasts, and nothing but the end of their thread
 * stops them; meanwhile everybody else is answered.
 */
import { Worker } from 'node:worker_threads';
import { AgentisoError, InvalidError, messageOf } from '#lib/errors.ts';
import type { Match, Matcher } from './matcher.ts';

/** What one search may spend on its pattern, starting the thread not counted. */
const LIMIT_MS = 1_000;
const START_LIMIT_MS = 30_000;
/** Threads at the same time: a team that sends bad patterns must not have the whole machine. */
const MAX_RUNNING = 2;
const MAX_WAITING = 64;
const MEMORY_MIB = 128;

/** Kept as text, because the program is bundled into few files and this must be found wherever they are. */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const expression = new RegExp(workerData);
const find = (texts, max) => {
  const found = [];
  for (let text = 0; text < texts.length; text++) {
    const lines = texts[text].split(/\\r\\n|\\n|\\r/);
    for (let line = 0; line < lines.length; line++) {
      if (found.length >= max) return found;
      if (expression.test(lines[line])) found.push({ text, line });
    }
  }
  return found;
};
parentPort.on('message', ({ texts, max }) => {
  const startedMs = performance.now();
  const found = find(texts, max);
  parentPort.postMessage({ found, usedMs: performance.now() - startedMs });
});
parentPort.postMessage('ready');
`;

interface Answer {
  readonly found: readonly Match[];
  readonly usedMs: number;
}

/** Hands out threads, so many at a time. */
export class PatternRunner {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** Close it, or nobody else gets the thread. */
  async open(pattern: string): Promise<Matcher> {
    try {
      new RegExp(pattern);
    } catch (error) {
      throw new InvalidError(`the pattern is no regular expression: ${messageOf(error)}`, [], { cause: error });
    }
    await this.#enter();
    const thread = new Thread(pattern);
    try {
      await thread.ready();
    } catch (error) {
      await this.#leave(thread);
      throw error;
    }
    return { match: (texts, max) => thread.match(texts, max), close: () => this.#leave(thread) };
  }

  async #enter(): Promise<void> {
    if (this.#running < MAX_RUNNING) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING) {
      throw new AgentisoError('RateLimited', 'too many searches with regular expressions at once', {
        hint: 'search for plain text, or try again',
      });
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async #leave(thread: Thread): Promise<void> {
    await thread.end();
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running--;
  }
}

class Thread {
  readonly #worker: Worker;
  #leftMs = LIMIT_MS;

  constructor(pattern: string) {
    const resourceLimits = { maxOldGenerationSizeMb: MEMORY_MIB };
    this.#worker = new Worker(PROGRAM, { eval: true, workerData: pattern, execArgv: [], env: {}, resourceLimits });
    // What it says after its answer, such as that it ran out of memory, is of no interest any more.
    this.#worker.on('error', () => {});
  }

  async ready(): Promise<void> {
    await this.#answer(START_LIMIT_MS);
  }

  async match(texts: readonly string[], max: number): Promise<readonly Match[]> {
    this.#worker.postMessage({ texts, max });
    const { found, usedMs } = (await this.#answer(this.#leftMs)) as Answer;
    this.#leftMs -= usedMs;
    if (this.#leftMs <= 0) throw tooSlow();
    return found;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #answer(limitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const onMessage = (answer: unknown) => {
        settle();
        resolve(answer);
      };
      const onEnd = (cause?: unknown) => {
        settle();
        reject(tooSlow(cause));
      };
      const timer = setTimeout(onEnd, limitMs);
      const settle = () => {
        clearTimeout(timer);
        this.#worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
      };
      this.#worker.once('message', onMessage).once('error', onEnd).once('exit', onEnd);
    });
  }
}

function tooSlow(cause?: unknown): AgentisoError {
  return new AgentisoError('Timeout', `the pattern took longer than ${LIMIT_MS} ms, or too much memory`, {
    hint: 'search for plain text, or for a pattern without nested repetitions such as (a+)+',
    ...(cause === undefined ? {} : { cause }),
  });
}
