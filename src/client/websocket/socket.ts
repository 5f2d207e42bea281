/** The client's end of one WebSocket: messages are pulled, and sending waits until the server has taken what was sent before. */
import type { Duplex } from 'node:stream';
import { drained } from '#lib/drained.ts';
import { FrameError, FrameReader } from '#lib/websocket/frame-reader.ts';
import { type Frame, maskedFrame, OPCODE } from '#lib/websocket/frames.ts';

/** More than any server of this API sends at once. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** How long the server may take to answer a goodbye. */
const GOODBYE_MS = 1_000;

export class ClientSocket {
  /** The one that was agreed on. */
  readonly protocol: string;
  readonly #socket: Duplex;
  readonly #reader = new FrameReader({ from: 'server', maxFrameBytes: MAX_FRAME_BYTES });
  #pieces: Buffer[] = [];
  #isClosing = false;

  constructor(socket: Duplex, head: Buffer, protocol: string) {
    this.#socket = socket;
    this.protocol = protocol;
    if (head.length > 0) socket.unshift(head);
    socket.on('error', () => {});
  }

  /** Whole messages until either end hangs up, however that comes about. */
  async *messages(): AsyncGenerator<Buffer> {
    try {
      for await (const bytes of this.#socket) {
        for (const frame of this.#reader.push(bytes as Buffer)) {
          const message = this.#take(frame);
          if (message) yield message;
        }
      }
    } catch (error) {
      if (error instanceof FrameError) throw new Error(`the server does not speak WebSocket as it should: ${error.message}`);
      // A connection that breaks is one that ends: what is missing then, the protocol inside tells.
      if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    } finally {
      this.#socket.destroy();
    }
  }

  /** Undefined: nothing for whoever reads. */
  #take({ opcode, isLast, payload }: Frame): Buffer | undefined {
    if (opcode === OPCODE.ping) this.#write(maskedFrame(OPCODE.pong, payload));
    else if (opcode === OPCODE.close) this.close();
    if (opcode >= OPCODE.close) return undefined;
    this.#pieces.push(payload);
    if (!isLast) return undefined;
    const message = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return message;
  }

  /** Resolves when more may be sent, or nothing more can be. */
  send(...parts: readonly Buffer[]): Promise<void> {
    this.#write(maskedFrame(OPCODE.binary, ...parts));
    return drained(this.#socket);
  }

  close(): void {
    if (this.#isClosing) return;
    this.#write(maskedFrame(OPCODE.close, Buffer.from([1000 >> 8, 1000 & 0xff])));
    this.#isClosing = true;
    this.#socket.end();
    const cut = setTimeout(() => this.#socket.destroy(), GOODBYE_MS).unref();
    this.#socket.on('close', () => clearTimeout(cut));
  }

  #write(frame: Buffer): void {
    if (!this.#isClosing && this.#socket.writable) this.#socket.write(frame);
  }
}
