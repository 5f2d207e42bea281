/**
 * A task's output on its way into the agent's log. Only so much of it per second: the log keeps the last few megabytes of everybody, and a
 * task that floods it would cost the time that messages need. What is left out here is in the result or in the task's own log.
 */
import type { AgentLog, LogWriter } from '../log/agent-log.ts';
import { monotonicMs } from '../monotonic.ts';

const BYTES_PER_MS = 256;
const BURST_BYTES = 512 * 1024;

export class TaskLines {
  readonly #log: Pick<AgentLog, 'open' | 'write'>;
  readonly #source: string;
  readonly #writer: LogWriter;
  readonly #now: () => number;
  #allowedBytes = BURST_BYTES;
  #lastMs: number;
  #skippedBytes = 0;

  constructor(log: Pick<AgentLog, 'open' | 'write'>, source: string, now: () => number = monotonicMs) {
    this.#log = log;
    this.#source = source;
    this.#writer = log.open(source);
    this.#now = now;
    this.#lastMs = now();
  }

  write(chunk: Buffer): void {
    const nowMs = this.#now();
    this.#allowedBytes = Math.min(BURST_BYTES, this.#allowedBytes + (nowMs - this.#lastMs) * BYTES_PER_MS);
    this.#lastMs = nowMs;
    if (chunk.length > this.#allowedBytes) {
      this.#skippedBytes += chunk.length;
      return;
    }
    this.#allowedBytes -= chunk.length;
    this.#sayWhatWasSkipped();
    this.#writer.write(chunk);
  }

  end(): void {
    this.#sayWhatWasSkipped();
    this.#writer.end();
  }

  #sayWhatWasSkipped(): void {
    if (this.#skippedBytes === 0) return;
    this.#writer.end();
    this.#log.write(this.#source, `[${this.#skippedBytes} bytes of output came too fast and are not shown]`);
    this.#skippedBytes = 0;
  }
}
