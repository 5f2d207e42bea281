/** Why a call is to end before it is done: cancelled, too late, or without its connection. */
import { ProtocolError } from './protocol-error.ts';

/** Most handlers never ask for the signal: for them none is made, and no clock runs. */
export class CallEnding {
  readonly #deadlineMs: number | undefined;
  readonly #startedMs = nowMs();
  #controller: AbortController | undefined;
  #reason: ProtocolError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isSettled = false;

  /** The deadline counts from here. */
  constructor(deadlineMs: number | undefined) {
    this.#deadlineMs = deadlineMs;
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    this.#controller = new AbortController();
    if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    else if (!this.#isSettled) this.#startClock();
    return this.#controller.signal;
  }

  abort(reason: ProtocolError): void {
    this.#reason ??= reason;
    this.#controller?.abort(reason);
  }

  /** The call is over. */
  settle(): void {
    this.#isSettled = true;
    clearTimeout(this.#timer);
  }

  #startClock(): void {
    const deadlineMs = this.#deadlineMs;
    if (deadlineMs === undefined) return;
    const expire = () => this.abort(new ProtocolError('Timeout', `not done within ${deadlineMs} ms`));
    this.#timer = setTimeout(expire, Math.ceil(Math.max(0, this.#startedMs + deadlineMs - nowMs())));
  }
}

/** The global clock of Node would load a module for it that most guests never need. */
function nowMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}
