/**
 * Hints to one guest. Those that come in the same moment, because their messages were written together, become one; the messages go along
 * as far as they are small and few. What does not fit is fetched by the guest.
 */
import { type Envelope, MAX_HINTED } from '#protocol/relay.ts';

/** Of one message, so that a guest that does not read cannot make the host keep much for it. */
const MAX_CONTENT = 16 * 1024;
/** Of all in one hint. */
const MAX_TOTAL = 256 * 1024;
/** Without an answer: the guest answers with its next report, and takes only so many calls at once. */
const MAX_OPEN = 32;

export class Hints {
  readonly #send: (hintJson: string) => unknown;
  #nextSeq = 0;
  /** As JSON. */
  #messages: string[] = [];
  #bytes = 0;
  #isWaiting = false;
  #open = 0;

  /** `send` is given the JSON of a HintParams, in which each message stands as it was written to disk; it gives a promise that settles when the guest has answered, or never will. */
  constructor(send: (hintJson: string) => unknown) {
    this.#send = send;
  }

  /** `json`: of the message, where it is at hand. */
  add(nextSeq: number, message?: Envelope, json?: string): void {
    this.#nextSeq = Math.max(this.#nextSeq, nextSeq);
    if (message && this.#hasRoomFor(message)) {
      this.#messages.push(json ?? JSON.stringify(message));
      this.#bytes += message.content.length;
    }
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    if (this.#open >= MAX_OPEN) return;
    // Behind those of the same write, which are all on their way by now, and before anything else that follows from it.
    queueMicrotask(() => this.#flush());
  }

  #hasRoomFor({ content }: Envelope): boolean {
    return this.#messages.length < MAX_HINTED && content.length <= MAX_CONTENT && this.#bytes + content.length <= MAX_TOTAL;
  }

  #flush(): void {
    const messages = this.#messages;
    this.#messages = [];
    this.#bytes = 0;
    this.#isWaiting = false;
    this.#open += 1;
    const end = () => {
      this.#open -= 1;
      if (this.#isWaiting && this.#open === MAX_OPEN - 1) this.#flush();
    };
    const carried = messages.length > 0 ? `,"messages":[${messages.join(',')}]` : '';
    Promise.resolve(this.#send(`{"nextSeq":${this.#nextSeq}${carried}}`)).then(end, end);
  }
}
