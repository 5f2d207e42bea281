/** Requests of the other side that are being worked on here. */
import { CallEnding } from './call-ending.ts';
import { CallStreams, type SendFrame } from './call-streams.ts';
import type { Answer, Request, StreamMessage } from './messages.ts';
import { type CallContext, hasStreams, type Method, type MethodTable } from './method.ts';
import { ProtocolError, toWireError } from './protocol-error.ts';

/** Bounds what a peer that never reads its answers can make this side hold. */
const MAX_IN_FLIGHT = 256;

type AnyHandler = (params: unknown, context: CallContext<string, string>) => Promise<unknown>;

export interface IncomingOptions {
  /** The methods this side answers. */
  readonly methods: MethodTable;
  readonly handlers: Readonly<Record<string, unknown>>;
  /** Throws to refuse a method and to close the connection: the gate of the handshake. */
  readonly admit?: (type: string) => void;
  /** What to say of a method that is not in the table, such as which port has it. */
  readonly explainUnknown?: (type: string) => string | undefined;
}

/** Resolves when it is on its way; undefined when it is so at once. */
export type SendAnswer = (answer: Answer) => Promise<void> | undefined;

interface InFlight {
  readonly ending: CallEnding;
  readonly streams: CallStreams;
  readonly method: Method | undefined;
}

export class IncomingCalls {
  readonly #options: IncomingOptions | undefined;
  readonly #answer: SendAnswer;
  readonly #send: SendFrame;
  readonly #inFlight = new Map<number, InFlight>();
  /** Ids rise: a frame of a stream that names a higher one is out of order. */
  #highestId = 0;

  constructor(options: IncomingOptions | undefined, answer: SendAnswer, send: SendFrame) {
    this.#options = options;
    this.#answer = answer;
    this.#send = send;
  }

  /** Throws for what must close the connection; every other outcome becomes an answer. */
  start(request: Request): void {
    const options = this.#options;
    if (options === undefined) throw new ProtocolError('Invalid', `this side takes no requests, not even ${request.type}`);
    if (this.#inFlight.has(request.id)) throw new ProtocolError('Invalid', `request ${request.id} is already in flight`);
    if (request.id <= this.#highestId) throw new ProtocolError('Invalid', `request ${request.id} comes after ${this.#highestId}`);
    if (this.#inFlight.size >= MAX_IN_FLIGHT) throw new ProtocolError('Unavailable', `more than ${MAX_IN_FLIGHT} requests in flight`);
    options.admit?.(request.type);
    this.#highestId = request.id;
    void this.#run(request, options);
  }

  cancel(id: number): void {
    this.#inFlight.get(id)?.ending.abort(new ProtocolError('Unavailable', 'cancelled by the caller'));
  }

  /** A frame of a call that has ended meanwhile is nobody's fault. */
  take(message: StreamMessage): void {
    if (message.id > this.#highestId) throw new ProtocolError('Invalid', `a stream of request ${message.id}, which was never sent`);
    this.#inFlight.get(message.id)?.streams.take(message);
  }

  /** Without its connection a call with streams has nobody to talk to; others go on and their answer is lost. */
  disconnect(reason: ProtocolError): void {
    for (const { ending, streams, method } of this.#inFlight.values()) {
      if (method === undefined || !hasStreams(method)) continue;
      ending.abort(reason);
      streams.stop();
    }
  }

  async #run({ id, type, params, deadlineMs }: Request, options: IncomingOptions): Promise<void> {
    const method = Object.hasOwn(options.methods, type) ? options.methods[type] : undefined;
    const streams = new CallStreams(id, 'handler', { sends: method?.down ?? [], receives: method?.up ?? [] }, this.#send);
    const ending = new CallEnding(deadlineMs);
    this.#inFlight.set(id, { ending, streams, method });
    try {
      if (method === undefined) throw new ProtocolError('Invalid', options.explainUnknown?.(type) ?? `unknown method ${type}`);
      const handler = options.handlers[type] as AnyHandler;
      const result = await handler(method.params(params, type), new Context(ending, streams));
      if (hasStreams(method)) await Promise.race([streams.flush(), aborted(ending.signal)]);
      const answered = this.#answer({ id, result });
      if (answered !== undefined) await answered;
    } catch (error) {
      await this.#answer({ id, error: toWireError(error) });
    } finally {
      ending.settle();
      streams.stop();
      this.#inFlight.delete(id);
    }
  }
}

class Context implements CallContext<string, string> {
  readonly #ending: CallEnding;
  readonly up: CallStreams['receivers'];
  readonly down: CallStreams['senders'];

  constructor(ending: CallEnding, { receivers, senders }: CallStreams) {
    this.#ending = ending;
    this.up = receivers;
    this.down = senders;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
