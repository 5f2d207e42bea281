/**
 * A machine that writes while the disk of this one is full: QEMU stops it, with the write in hand. It loses nothing by standing still, so it is
 * let go on again and again, until its write succeeds.
 */
import type { Qmp, QmpEvent } from './qmp.ts';

/** What QEMU calls a machine that it has stopped for that. */
const STOPPED = 'io-error';
const RETRY_MS = 1_000;
/** In a row. On a busy machine a write may not have failed again by the first. */
const LOOKS = 2;

export interface WantOfRoomOptions {
  readonly qmp: Pick<Qmp, 'execute'>;
  /** Whether somebody keeps it still on purpose. */
  readonly isPaused: () => boolean;
  /** It stands still, or goes on. */
  readonly onChange: () => void;
}

export class WantOfRoom {
  readonly #options: WantOfRoomOptions;
  #timer: NodeJS.Timeout | undefined;
  #isWanted = false;
  #looksRunning = 0;

  constructor(options: WantOfRoomOptions) {
    this.#options = options;
  }

  get isWanted(): boolean {
    return this.#isWanted;
  }

  hear({ event, data }: QmpEvent): void {
    if (event === 'BLOCK_IO_ERROR' && data?.['action'] === 'stop') this.#begin();
  }

  /** It may have been stopped while nobody listened. */
  async look(): Promise<void> {
    if ((await this.#status()) === STOPPED) this.#begin();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isWanted = false;
    this.#looksRunning = 0;
  }

  #begin(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#retryLater();
    this.#options.onChange();
  }

  #retryLater(): void {
    this.#timer = setTimeout(() => void this.#retry(), RETRY_MS).unref();
  }

  /** One that has run for a while has written what it wanted to. */
  async #retry(): Promise<void> {
    const { qmp, isPaused, onChange } = this.#options;
    const status = await this.#status();
    if (!this.#isWanted) return;
    this.#looksRunning = status === 'running' ? this.#looksRunning + 1 : 0;
    if (this.#looksRunning >= LOOKS) {
      this.close();
      return onChange();
    }
    if (status === STOPPED && !isPaused()) await qmp.execute('cont').catch(() => {});
    if (this.#isWanted) this.#retryLater();
  }

  /** undefined: nobody says. */
  async #status(): Promise<unknown> {
    const answer = await this.#options.qmp.execute('query-status').catch(() => undefined);
    return (answer as { readonly status?: unknown } | undefined)?.status;
  }
}
