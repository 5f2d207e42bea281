/**
 * Reads an answer as it passes: server-sent events one by one, anything else as a whole when it has ended. Keeps at most `maxBytes`; of a
 * longer event, or a longer whole, nothing is known.
 */
import { Transform } from 'node:stream';
import type { JsonObject, Usage, UsageFold } from './usage.ts';

const MAX_BYTES = 16 * 1024 * 1024;

export class UsageReader {
  readonly #fold: UsageFold;
  readonly #maxBytes: number;
  readonly #isEvents: boolean;
  #usage: Usage | undefined;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #isTooLong = false;

  constructor(fold: UsageFold, { isEvents, maxBytes = MAX_BYTES }: { readonly isEvents: boolean; readonly maxBytes?: number }) {
    this.#fold = fold;
    this.#isEvents = isEvents;
    this.#maxBytes = maxBytes;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  write(chunk: Buffer): void {
    if (!this.#isEvents) {
      this.#hold(chunk);
      return;
    }
    let rest = chunk;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      this.#hold(rest.subarray(0, at));
      this.#readLine();
      rest = rest.subarray(at + 1);
    }
    this.#hold(rest);
  }

  end(): void {
    if (this.#isEvents) this.#readLine();
    else this.#readJson(this.#take());
  }

  #hold(bytes: Buffer): void {
    this.#heldBytes += bytes.length;
    this.#isTooLong ||= this.#heldBytes > this.#maxBytes;
    if (this.#isTooLong) this.#held = [];
    // A copy: the chunk belongs to whoever reads on.
    else if (bytes.length > 0) this.#held.push(Buffer.from(bytes));
  }

  #take(): string {
    const text = this.#isTooLong ? '' : Buffer.concat(this.#held).toString('utf8');
    this.#held = [];
    this.#heldBytes = 0;
    this.#isTooLong = false;
    return text;
  }

  /** All providers put one event into one line of data. */
  #readLine(): void {
    const text = this.#take();
    if (text.startsWith('data:')) this.#readJson(text.slice('data:'.length));
  }

  #readJson(text: string): void {
    for (const event of eventsIn(text)) this.#usage = this.#fold(this.#usage, event);
  }
}

/** One object, or a list of them; nothing when it is neither, such as the `[DONE]` at the end of a stream. */
function eventsIn(text: string): readonly JsonObject[] {
  try {
    const value: unknown = JSON.parse(text);
    return (Array.isArray(value) ? value : [value]).filter((event) => typeof event === 'object' && event !== null);
  } catch {
    return [];
  }
}

/** Passes everything on as it is. `onEnd` hears what was used, also when the answer was cut. */
export function readingUsage(reader: UsageReader, onEnd: (usage: Usage | undefined) => void): Transform {
  let isOver = false;
  const finish = () => {
    if (isOver) return;
    isOver = true;
    reader.end();
    onEnd(reader.usage);
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      reader.write(chunk);
      done(null, chunk);
    },
    flush(done) {
      finish();
      done();
    },
    destroy(error, done) {
      finish();
      done(error);
    },
  });
}
