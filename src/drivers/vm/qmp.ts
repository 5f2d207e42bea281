/** QEMU's own door: what state a machine is in, why it ended, and how it is told to. Lines of JSON over a unix socket. */
import type { Duplex } from 'node:stream';
import { AgentisoError, UnavailableError } from '#lib/errors.ts';

export interface QmpEvent {
  readonly event: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

interface QmpMessage extends Partial<QmpEvent> {
  readonly id?: number;
  readonly return?: unknown;
  readonly error?: { readonly class: string; readonly desc: string };
}

const ANSWER_MS = 5_000;

export class Qmp {
  readonly #stream: Duplex;
  readonly #waiting = new Map<number, Waiting>();
  readonly #onEvent: (event: QmpEvent) => void;
  #nextId = 1;

  private constructor(stream: Duplex, onEvent: (event: QmpEvent) => void) {
    this.#stream = stream;
    this.#onEvent = onEvent;
    let unfinished = '';
    stream.on('data', (chunk) => {
      const lines = (unfinished + String(chunk)).split('\n');
      unfinished = lines.pop() ?? '';
      for (const line of lines) this.#take(line);
    });
    stream.on('error', () => {});
    stream.once('close', () => this.#end());
  }

  /** Takes over the stream, also when it rejects. */
  static async open(stream: Duplex, onEvent: (event: QmpEvent) => void = () => {}): Promise<Qmp> {
    const qmp = new Qmp(stream, onEvent);
    try {
      await qmp.execute('qmp_capabilities');
      return qmp;
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  /** Rejects with what QEMU complains about, or when it is gone. */
  execute(command: string, options: object = {}, answerMs: number = ANSWER_MS): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      if (this.#stream.destroyed) return reject(gone());
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new AgentisoError('Timeout', `QEMU did not answer ${command} within ${answerMs} ms`));
      }, answerMs);
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer);
          settle(value);
        };
      this.#waiting.set(id, { resolve: settled(resolve), reject: settled(reject) });
      this.#stream.write(`${JSON.stringify({ execute: command, arguments: options, id })}\n`);
    });
  }

  close(): void {
    this.#stream.destroy();
  }

  #take(line: string): void {
    const message = parse(line);
    if (message?.event !== undefined) this.#onEvent({ event: message.event, ...(message.data && { data: message.data }) });
    const waiting = message?.id === undefined ? undefined : this.#waiting.get(message.id);
    if (message?.id === undefined || waiting === undefined) return;
    this.#waiting.delete(message.id);
    if (message.error === undefined) waiting.resolve(message.return);
    else waiting.reject(new AgentisoError('Unavailable', `QEMU: ${message.error.desc}`, { reason: message.error.class }));
  }

  #end(): void {
    for (const { reject } of this.#waiting.values()) reject(gone());
    this.#waiting.clear();
  }
}

function gone(): UnavailableError {
  return new UnavailableError('QEMU hung up', { reason: 'MachineGone' });
}

function parse(line: string): QmpMessage | undefined {
  try {
    return JSON.parse(line) as QmpMessage;
  } catch {
    return undefined;
  }
}
