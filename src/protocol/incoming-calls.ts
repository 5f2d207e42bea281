/** Requests of the other side that are being worked on here. */
import { type Answer, type CallContext, type Handlers, isMethodName, type MethodName, type Request } from './messages.ts';
import { parsers } from './parse.ts';
import { ProtocolError, toWireError } from './protocol-error.ts';

/** Bounds what a peer that never reads its answers can make this side hold. */
const MAX_IN_FLIGHT = 64;

export interface IncomingOptions {
  /** A side without handlers is not to be asked anything. */
  readonly handlers?: Handlers;
  /** Throws to refuse a method and to close the connection: the gate of the handshake. */
  readonly admit?: (type: string) => void;
}

export class IncomingCalls {
  readonly #options: IncomingOptions;
  readonly #answer: (answer: Answer) => Promise<void>;
  readonly #inFlight = new Map<number, AbortController>();

  constructor(options: IncomingOptions, answer: (answer: Answer) => Promise<void>) {
    this.#options = options;
    this.#answer = answer;
  }

  /** Throws for what must close the connection; every other outcome becomes an answer. */
  start(request: Request): void {
    const { handlers, admit } = this.#options;
    if (handlers === undefined) throw new ProtocolError('Invalid', `this side takes no requests, not even ${request.type}`);
    if (this.#inFlight.has(request.id)) throw new ProtocolError('Invalid', `request ${request.id} is already in flight`);
    if (this.#inFlight.size >= MAX_IN_FLIGHT) throw new ProtocolError('Unavailable', `more than ${MAX_IN_FLIGHT} requests in flight`);
    admit?.(request.type);
    void this.#run(request, handlers);
  }

  cancel(id: number): void {
    this.#inFlight.get(id)?.abort(new ProtocolError('Unavailable', 'cancelled by the caller'));
  }

  async #run({ id, type, params, deadlineMs }: Request, handlers: Handlers): Promise<void> {
    const controller = new AbortController();
    this.#inFlight.set(id, controller);
    const expire = () => controller.abort(new ProtocolError('Timeout', `not done within ${deadlineMs} ms`));
    const timer = deadlineMs === undefined ? undefined : setTimeout(expire, deadlineMs);
    try {
      const result = await callHandler({ handlers, type, params, context: { signal: controller.signal } });
      await this.#answer({ id, result });
    } catch (error) {
      await this.#answer({ id, error: toWireError(error) });
    } finally {
      clearTimeout(timer);
      this.#inFlight.delete(id);
    }
  }
}

interface Invocation {
  readonly handlers: Handlers;
  readonly type: string;
  readonly params: unknown;
  readonly context: CallContext;
}

async function callHandler({ handlers, type, params, context }: Invocation): Promise<unknown> {
  if (!isMethodName(type)) throw new ProtocolError('Invalid', `unknown method ${type}`);
  return callTyped(type, { handlers, params, context });
}

/** One type parameter ties the parser's params to the handler's; a lookup by a plain union would lose it. */
function callTyped<M extends MethodName>(type: M, { handlers, params, context }: Omit<Invocation, 'type'>): Promise<unknown> {
  return handlers[type](parsers[type].params(params), context);
}
