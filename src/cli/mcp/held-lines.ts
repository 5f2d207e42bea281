/** Lines of the client that wait for a daemon: not too many, and not for ever. */

const MAX_LINES = 256;
const MAX_BYTES = 16 * 1024 * 1024;

export class HeldLines {
  #lines: Buffer[] = [];
  #bytes = 0;
  #isOpen = true;
  #timer: NodeJS.Timeout | undefined;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** False: it cannot wait here. */
  hold(line: Buffer): boolean {
    if (!this.#isOpen || this.#lines.length >= MAX_LINES || this.#bytes + line.length > MAX_BYTES) return false;
    this.#lines.push(line);
    this.#bytes += line.length;
    return true;
  }

  /** There is a daemon for them. */
  take(): readonly Buffer[] {
    clearTimeout(this.#timer);
    this.#isOpen = true;
    const lines = this.#lines;
    this.#lines = [];
    this.#bytes = 0;
    return lines;
  }

  /** From now on nothing waits; what did is given back. */
  close(): readonly Buffer[] {
    const lines = this.take();
    this.#isOpen = false;
    return lines;
  }

  closeAfter(ms: number, onClosed: (lines: readonly Buffer[]) => void): void {
    this.#isOpen = true;
    this.#timer = setTimeout(() => onClosed(this.close()), ms);
  }
}
