/** Requests of this side that have no answer yet: ids, deadlines, cancelling, streams. */
import { CallStreams, type SendFrame } from './call-streams.ts';
import { checkedBody, toBody } from './framing.ts';
import type { Answer, Cancel, StreamMessage } from './messages.ts';
import type { Method, OpenCall } from './method.ts';
import { ProtocolError } from './protocol-error.ts';

/** A timer that is late by as much was held up by what held up everything. */
const STOOD_STILL_MS = 500;

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

interface CallFacts {
  readonly type: string;
  readonly method: Method;
  readonly options: CallOptions;
}

interface CallOutcome {
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

/** One of them. */
class Outstanding {
  readonly streams: CallStreams;
  readonly #call: CallFacts;
  readonly #outcome: CallOutcome;
  /** Called once, when it has ended, with whether the other side has to be told. */
  readonly #onEnd: (isGivenUp: boolean) => void;
  readonly #abort: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #lastLook: NodeJS.Immediate | undefined;

  constructor(call: CallFacts, outcome: CallOutcome, streams: CallStreams, onEnd: (isGivenUp: boolean) => void) {
    this.#call = call;
    this.#outcome = outcome;
    this.streams = streams;
    this.#onEnd = onEnd;
    const { type, options } = call;
    const { signal, deadlineMs } = options;
    if (signal !== undefined) {
      this.#abort = () => this.#giveUp(signal.reason);
      signal.addEventListener('abort', this.#abort, { once: true });
    }
    if (deadlineMs === undefined) return;
    const giveUp = () => this.#giveUp(new ProtocolError('Timeout', `no answer to ${type} within ${deadlineMs} ms`));
    const dueMs = performance.now() + deadlineMs;
    this.#timer = setTimeout(() => {
      // An answer that came while this process stood still is read after its timers. Else what comes now is of work that was cut off.
      if (performance.now() - dueMs < STOOD_STILL_MS) giveUp();
      else this.#lastLook = setImmediate(giveUp);
    }, deadlineMs);
  }

  settle(answer: Answer | ProtocolError): void {
    this.#finish(false);
    try {
      this.#outcome.resolve(this.#call.method.result(toResult(answer), this.#call.type));
    } catch (error) {
      this.#outcome.reject(error);
    }
  }

  #giveUp(reason: unknown): void {
    this.#finish(true);
    this.#outcome.reject(reason);
  }

  #finish(isGivenUp: boolean): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#lastLook);
    if (this.#abort !== undefined) this.#call.options.signal?.removeEventListener('abort', this.#abort);
    this.streams.stop();
    this.#onEnd(isGivenUp);
  }
}

export class OutgoingCalls {
  readonly #send: (body: string) => void;
  readonly #sendFrame: SendFrame;
  readonly #outstanding = new Map<number, Outstanding>();
  #lastId = 0;
  #lateAnswers = 0;

  constructor(send: (body: string) => void, sendFrame: SendFrame) {
    this.#send = send;
    this.#sendFrame = sendFrame;
  }

  get lateAnswers(): number {
    return this.#lateAnswers;
  }

  /** Throws when the request cannot be sent at all: its signal is aborted, or it is too large. */
  start(type: string, method: Method, paramsJson: string | undefined, options: CallOptions): OpenCall {
    const { signal, deadlineMs } = options;
    signal?.throwIfAborted();
    const id = this.#lastId + 1;
    this.#send(requestBody(id, type, paramsJson, deadlineMs));
    this.#lastId = id;
    const streams = new CallStreams(id, 'caller', { sends: method.up, receives: method.down }, this.#sendFrame);
    const onEnd = (isGivenUp: boolean) => {
      this.#outstanding.delete(id);
      if (isGivenUp) this.#send(toBody({ id, type: 'cancel' } satisfies Cancel));
    };
    const result = new Promise<unknown>((resolve, reject) => {
      this.#outstanding.set(id, new Outstanding({ type, method, options }, { resolve, reject }, streams, onEnd));
    });
    return { result, up: streams.senders, down: streams.receivers };
  }

  /** An answer to a call given up earlier is dropped: its id is never used again. */
  settle(answer: Answer): void {
    if (answer.id > this.#lastId) throw new ProtocolError('Invalid', `an answer to request ${answer.id}, which was never sent`);
    const outstanding = this.#outstanding.get(answer.id);
    if (outstanding === undefined) this.#lateAnswers += 1;
    else outstanding.settle(answer);
  }

  take(message: StreamMessage): void {
    if (message.id > this.#lastId) throw new ProtocolError('Invalid', `a stream of request ${message.id}, which was never sent`);
    this.#outstanding.get(message.id)?.streams.take(message);
  }

  rejectAll(error: ProtocolError): void {
    for (const outstanding of [...this.#outstanding.values()]) outstanding.settle(error);
  }
}

/** A Request. Throws TooLarge. */
function requestBody(id: number, type: string, paramsJson: string | undefined, deadlineMs: number | undefined): string {
  const params = paramsJson === undefined ? '' : `,"params":${paramsJson}`;
  const deadline = deadlineMs === undefined ? '' : `,"deadlineMs":${deadlineMs}`;
  return checkedBody(`{"id":${id},"type":${JSON.stringify(type)}${params}${deadline}}`);
}

function toResult(answer: Answer | ProtocolError): unknown {
  if (answer instanceof ProtocolError) throw answer;
  if ('error' in answer) {
    const { code, message, ...details } = answer.error;
    throw new ProtocolError(code, message, undefined, details);
  }
  return answer.result;
}
