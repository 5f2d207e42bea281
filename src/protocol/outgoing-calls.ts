/** Requests of this side that have no answer yet: ids, deadlines, cancelling. */
import type { Answer, Cancel, MethodName, Params, Request, Result } from './messages.ts';
import { parsers } from './parse.ts';
import { ProtocolError } from './protocol-error.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
}

export class OutgoingCalls {
  readonly #send: (message: Request | Cancel) => void;
  readonly #settlers = new Map<number, (answer: Answer | ProtocolError) => void>();
  #lastId = 0;
  #lateAnswers = 0;

  constructor(send: (message: Request | Cancel) => void) {
    this.#send = send;
  }

  get lateAnswers(): number {
    return this.#lateAnswers;
  }

  start<M extends MethodName>(type: M, params: Params<M>, { signal, deadlineMs }: CallOptions): Promise<Result<M>> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const id = ++this.#lastId;
      this.#send({ id, type, params, ...(deadlineMs !== undefined && { deadlineMs }) });

      const finish = () => {
        this.#settlers.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
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
      this.#settlers.set(id, (answer) => {
        finish();
        try {
          resolve(parsers[type].result(toResult(answer)));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  /** An answer to a call given up earlier is dropped: its id is never used again. */
  settle(answer: Answer): void {
    if (answer.id > this.#lastId) throw new ProtocolError('Invalid', `an answer to request ${answer.id}, which was never sent`);
    const settler = this.#settlers.get(answer.id);
    if (settler === undefined) this.#lateAnswers += 1;
    else settler(answer);
  }

  rejectAll(error: ProtocolError): void {
    for (const settler of [...this.#settlers.values()]) settler(error);
  }
}

function toResult(answer: Answer | ProtocolError): unknown {
  if (answer instanceof ProtocolError) throw answer;
  if ('error' in answer) throw new ProtocolError(answer.error.code, answer.error.message);
  return answer.result;
}
