/** Requests of this side that have no answer yet: ids, deadlines, cancelling, streams. */
import { CallStreams, type SendFrame } from './call-streams.ts';
import type { Answer, Cancel, Request, StreamMessage } from './messages.ts';
import type { Method, OpenCall } from './method.ts';
import { ProtocolError } from './protocol-error.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

interface Outstanding {
  readonly settle: (answer: Answer | ProtocolError) => void;
  readonly streams: CallStreams;
}

export class OutgoingCalls {
  readonly #send: (message: Request | Cancel) => void;
  readonly #sendFrame: SendFrame;
  readonly #outstanding = new Map<number, Outstanding>();
  #lastId = 0;
  #lateAnswers = 0;

  constructor(send: (message: Request | Cancel) => void, sendFrame: SendFrame) {
    this.#send = send;
    this.#sendFrame = sendFrame;
  }

  get lateAnswers(): number {
    return this.#lateAnswers;
  }

  /** Throws when the request cannot be sent at all: its signal is aborted, or it is too large. */
  start(type: string, method: Method, params: unknown, { signal, deadlineMs }: CallOptions): OpenCall {
    signal?.throwIfAborted();
    const id = this.#lastId + 1;
    this.#send({ id, type, params, ...(deadlineMs !== undefined && { deadlineMs }) });
    this.#lastId = id;
    const streams = new CallStreams(id, 'caller', { sends: method.up, receives: method.down }, this.#sendFrame);
    const result = new Promise<unknown>((resolve, reject) => {
      const finish = () => {
        this.#outstanding.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        streams.stop();
      };
      const giveUp = (reason: unknown) => {
        finish();
        reject(reason);
        this.#send({ id, type: 'cancel' });
      };
      const abort = () => giveUp(signal?.reason);
      const expire = () => giveUp(new ProtocolError('Timeout', `no answer to ${type} within ${deadlineMs} ms`));
      const timer = deadlineMs === undefined ? undefined : setTimeout(expire, deadlineMs);
      signal?.addEventListener('abort', abort, { once: true });
      const settle = (answer: Answer | ProtocolError) => {
        finish();
        try {
          resolve(method.result(toResult(answer), type));
        } catch (error) {
          reject(error);
        }
      };
      this.#outstanding.set(id, { settle, streams });
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
    for (const { settle } of [...this.#outstanding.values()]) settle(error);
  }
}

function toResult(answer: Answer | ProtocolError): unknown {
  if (answer instanceof ProtocolError) throw answer;
  if ('error' in answer) {
    const { code, message, ...details } = answer.error;
    throw new ProtocolError(code, message, undefined, details);
  }
  return answer.result;
}
