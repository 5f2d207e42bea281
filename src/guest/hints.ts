/**
 * Hints to one guest. Those that come in the same moment, because their messages were written together, become one; the messages go along
 * as far as they are small and few. What does not fit is fetched by the guest.
 */
import { type Envelope, type HintParams, MAX_HINTED } from '#protocol/relay.ts';

/** Of one message, so that a guest that does not read cannot make the host keep much for it. */
const MAX_CONTENT = 16 * 1024;
/** Of all in one hint. */
const MAX_TOTAL = 256 * 1024;

export class Hints {
  readonly #send: (hint: HintParams) => void;
  #nextSeq = 0;
  #messages: Envelope[] = [];
  #bytes = 0;
  #isWaiting = false;

  constructor(send: (hint: HintParams) => void) {
    this.#send = send;
  }

  add(nextSeq: number, message?: Envelope): void {
    this.#nextSeq = Math.max(this.#nextSeq, nextSeq);
    if (message && this.#hasRoomFor(message)) {
      this.#messages.push(message);
      this.#bytes += message.content.length;
    }
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    // When everything has run that the end of one write has set going.
    process.nextTick(() => this.#flush());
  }

  #hasRoomFor({ content }: Envelope): boolean {
    return this.#messages.length < MAX_HINTED && content.length <= MAX_CONTENT && this.#bytes + content.length <= MAX_TOTAL;
  }

  #flush(): void {
    const messages = this.#messages;
    this.#messages = [];
    this.#bytes = 0;
    this.#isWaiting = false;
    this.#send({ nextSeq: this.#nextSeq, ...(messages.length > 0 && { messages }) });
  }
}
