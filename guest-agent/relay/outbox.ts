/**
 * Messages that are sent in one turn of the event loop go to the host in one call: it reads them, writes them and answers them together.
 * Each has its own answer all the same. One that is alone takes the way that it always took.
 */
import { ProtocolError } from '#protocol/protocol-error.ts';
import { MAX_SENT_TOGETHER, type RelayHostParams, type RelayHostResult, type SentTogether } from '#protocol/relay.ts';
import type { HostCallOptions } from './link.ts';

type Message = RelayHostParams<'teamMessage'>;
type Answer = RelayHostResult<'teamMessage'>;

interface OutboxParts {
  readonly sendOne: (message: Message, options: HostCallOptions) => Promise<Answer>;
  readonly sendSeveral: (messages: readonly Message[]) => Promise<RelayHostResult<'teamMessages'>>;
}

interface Waiting {
  readonly message: Message;
  readonly options: HostCallOptions;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (error: unknown) => void;
}

/** What becomes of each copy is told, which takes a longer answer. */
const EVERYBODY = '*';
/**
 * Of all that one says that goes along with others. So many of the longest are always less than a frame, whatever they consist of: a call that
 * turned out to be too large would be said again after what came later.
 */
const MAX_CHARACTERS = 8 * 1024;

export class Outbox {
  readonly #parts: OutboxParts;
  #waiting: Waiting[] = [];

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  /** Undefined: it is one that goes alone. */
  send(message: Message, options: HostCallOptions): Promise<Answer> | undefined {
    if (!isShort(message) || message.to === EVERYBODY) return undefined;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ message, options, resolve, reject });
      if (this.#waiting.length === MAX_SENT_TOGETHER) this.flush();
      // When everything has run that this turn has set going.
      else if (this.#waiting.length === 1) process.nextTick(() => this.flush());
    });
  }

  flush(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    const [first] = waiting;
    if (first && waiting.length === 1) this.#sendAlone(first);
    else void this.#sendTogether(waiting);
  }

  #sendAlone({ message, options, resolve }: Waiting): void {
    resolve(this.#parts.sendOne(message, options));
  }

  async #sendTogether(waiting: readonly Waiting[]): Promise<void> {
    const unheard = waiting.map(({ options, reject }) => whenAborted(options.signal, reject));
    try {
      const { results } = await this.#parts.sendSeveral(waiting.map(({ message }) => message));
      for (const [index, { resolve, reject }] of waiting.entries()) settle(results[index], resolve, reject);
    } catch (error) {
      // A host that does not know the call, or cannot read one of them, has taken none, and what is no frame was not sent: each goes on its own.
      const isUnread = error instanceof ProtocolError && (error.code === 'Invalid' || error.code === 'TooLarge');
      for (const each of waiting) {
        if (isUnread) this.#sendAlone(each);
        else each.reject(error);
      }
    } finally {
      for (const stop of unheard) stop?.();
    }
  }
}

function settle(sent: SentTogether | undefined, resolve: (answer: Answer) => void, reject: (error: unknown) => void): void {
  if (sent?.message_id !== undefined) {
    resolve({ message_id: sent.message_id, state: 'Accepted', delivered: sent.delivered ?? false });
    return;
  }
  const { code, message, ...details } = sent?.error ?? { code: 'Internal' as const, message: 'the host has not said what became of it' };
  reject(new ProtocolError(code, message, undefined, details));
}

/** Gives the function that ends it. */
function whenAborted(signal: AbortSignal | undefined, reject: (reason: unknown) => void): (() => void) | undefined {
  if (signal === undefined) return undefined;
  const onAbort = () => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}

function isShort({ metadata, ...words }: Message): boolean {
  return charactersIn(words) + charactersIn(metadata ?? {}) <= MAX_CHARACTERS;
}

/** Names and values; JSON makes up to six of one, and as many stand around both. */
function charactersIn(fields: object): number {
  let sum = 0;
  for (const [name, value] of Object.entries(fields)) sum += name.length + String(value ?? '').length + 1;
  return sum;
}
