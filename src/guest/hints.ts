/**
 * Hints to one guest. They leave at once, with the messages that were written together, as far as those are small and few; what does not
 * fit is fetched by the guest. While it has many of them to answer, those that follow gather. Acknowledgements of results go along: nobody
 * waits for them, and the next assignment comes soon.
 */
import type { AttemptKey } from '#protocol/control.ts';
import { type Envelope, MAX_ACCEPTED, MAX_HINTED } from '#protocol/relay.ts';

/** Of one message, so that a guest that does not read cannot make the host keep much for it. */
const MAX_CONTENT = 16 * 1024;
/** Of all in one hint. */
const MAX_TOTAL = 256 * 1024;
/** Without an answer: the guest answers with its next report, and takes only so many calls at once. */
const MAX_OPEN = 32;
/** For so long an acknowledgement waits for a message to go with. */
const ACCEPTED_WITHIN_MS = 100;

interface Accepted {
  readonly keys: readonly AttemptKey[];
  resolve(): void;
  reject(reason: unknown): void;
}

export class Hints {
  readonly #send: (hintJson: string) => unknown;
  #nextSeq = 0;
  /** As JSON. */
  #messages: string[] = [];
  #bytes = 0;
  #isWaiting = false;
  #open = 0;
  #accepted: Accepted[] = [];
  #patience: NodeJS.Timeout | undefined;

  /** `send` is given the JSON of a HintParams, in which each message stands as it was written to disk; it gives a promise that settles when the guest has answered, or never will. */
  constructor(send: (hintJson: string) => unknown) {
    this.#send = send;
  }

  /** `jsons`: of the messages, where they are at hand. */
  add(nextSeq: number, messages: readonly Envelope[] = [], jsons: readonly string[] = []): void {
    this.#nextSeq = Math.max(this.#nextSeq, nextSeq);
    for (const [index, message] of messages.entries()) {
      if (!this.#hasRoomFor(message)) continue;
      this.#messages.push(jsons[index] ?? JSON.stringify(message));
      this.#bytes += message.content.length;
    }
    this.#leave();
  }

  /** Resolves when the guest has answered the hint that these go with. */
  accept(keys: readonly AttemptKey[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#accepted.push({ keys, resolve, reject });
      this.#patience ??= setTimeout(() => this.#leave(), ACCEPTED_WITHIN_MS).unref();
    });
  }

  #leave(): void {
    if (this.#open < MAX_OPEN) this.#flush();
    else this.#isWaiting = true;
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
    const accepted = this.#takeAccepted();
    const end = () => {
      this.#open -= 1;
      if (this.#isWaiting && this.#open === MAX_OPEN - 1) this.#flush();
    };
    const carried = messages.length > 0 ? `,"messages":[${messages.join(',')}]` : '';
    const over = accepted.length > 0 ? `,"accepted":${JSON.stringify(accepted.flatMap(({ keys }) => keys))}` : '';
    Promise.resolve(this.#send(`{"nextSeq":${this.#nextSeq}${carried}${over}}`)).then(
      () => {
        end();
        for (const { resolve } of accepted) resolve();
      },
      (error: unknown) => {
        end();
        for (const { reject } of accepted) reject(error);
      },
    );
  }

  /** As many as fit; the others go with the next one. */
  #takeAccepted(): Accepted[] {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    let room = MAX_ACCEPTED;
    const count = this.#accepted.findIndex(({ keys }) => {
      room -= keys.length;
      return room < 0;
    });
    const taken = this.#accepted.splice(0, count === -1 ? this.#accepted.length : count);
    if (this.#accepted.length > 0) this.#patience = setTimeout(() => this.#leave(), ACCEPTED_WITHIN_MS).unref();
    return taken;
  }
}
