/**
 * The server's end of one WebSocket. Messages are pulled: who does not ask for the next one holds the client back. What is sent waits in
 * the socket, and `send` says when that is enough.
 */
import type { Duplex } from 'node:stream';
import { awakeMs } from '#lib/awake-time.ts';
import { drained } from '#lib/drained.ts';
import { FrameError, FrameReader } from '#lib/websocket/frame-reader.ts';
import { type Frame, frameHead, OPCODE } from '#lib/websocket/frames.ts';

/** Nothing of any protocol here is larger; what says it is gets hung up on. */
const MAX_FRAME_BYTES = 1024 * 1024;
/** A write to a connection that is gone fails: so one that is held back, and not read from, is still found out. */
const PING_MS = 10_000;
/** Nothing at all, not even an answer to a ping. Time in which this process stood still does not count: it has listened to nobody. */
const SILENT_MS = 60_000;
/** How long a client may take to answer a goodbye. */
const GOODBYE_MS = 2_000;

export class WebSocketConnection {
  readonly #socket: Duplex;
  readonly #reader = new FrameReader({ from: 'client', maxFrameBytes: MAX_FRAME_BYTES });
  readonly #pings: NodeJS.Timeout;
  #pieces: Buffer[] = [];
  #pendingPong: Buffer | undefined;
  #heardAtMs = awakeMs();
  #isPulled = false;
  #isClosing = false;
  /** The client has said goodbye too. */
  #isPeerDone = false;

  /** The handshake is done; `head` is what came right behind it. */
  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket;
    if (head.length > 0) socket.unshift(head);
    socket.on('error', () => {});
    socket.on('drain', () => this.#answerPing());
    this.#pings = setInterval(() => this.#ping(), PING_MS).unref();
    socket.on('close', () => clearInterval(this.#pings));
  }

  /** Whole messages until either end hangs up. Never throws: whatever breaks the connection is its end. */
  async *messages(): AsyncGenerator<Buffer> {
    try {
      this.#isPulled = true;
      // Whoever says goodbye still has to be heard.
      for await (const bytes of this.#socket.iterator({ destroyOnReturn: false })) {
        this.#heardAtMs = awakeMs();
        yield* this.#wholeIn(bytes as Buffer);
        if (this.#isPeerDone) return;
      }
    } catch (error) {
      if (error instanceof FrameError) this.close(error.code, error.message);
    } finally {
      this.#leave();
    }
  }

  *#wholeIn(bytes: Buffer): Generator<Buffer> {
    for (const frame of this.#reader.push(bytes)) {
      const message = this.#take(frame);
      if (this.#isPeerDone) return;
      if (!message) continue;
      this.#isPulled = false;
      yield message;
      this.#isPulled = true;
    }
  }

  /** Nobody reads messages any more. */
  #leave(): void {
    if (!this.#isClosing) this.#socket.destroy();
    else if (this.#isPeerDone) this.#socket.end(() => this.#socket.destroy());
    // What is still on its way would make the goodbye a reset.
    else this.#socket.resume();
  }

  /** One binary message. False: no more before `drained`. */
  send(...parts: readonly Buffer[]): boolean {
    if (this.#isClosing || !this.#socket.writable) return true;
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    return this.#write(frameHead(OPCODE.binary, length), ...parts);
  }

  /** Also when the connection ends first. */
  drained(): Promise<void> {
    return drained(this.#socket);
  }

  /** All that was sent still arrives. */
  close(code: number, reason = ''): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    const text = Buffer.from(reason).subarray(0, 120);
    const payload = Buffer.concat([Buffer.from([code >> 8, code & 0xff]), text]);
    if (this.#socket.writable) this.#write(frameHead(OPCODE.close, payload.length), payload);
    this.#socket.end();
    const cut = setTimeout(() => this.#socket.destroy(), GOODBYE_MS).unref();
    this.#socket.on('close', () => clearTimeout(cut));
  }

  #write(...parts: readonly Buffer[]): boolean {
    this.#socket.cork();
    for (const part of parts) this.#socket.write(part);
    this.#socket.uncork();
    return !this.#socket.writableNeedDrain;
  }

  /** Undefined: nothing for whoever reads. */
  #take({ opcode, isLast, payload }: Frame): Buffer | undefined {
    switch (opcode) {
      case OPCODE.ping:
        this.#pendingPong = payload;
        this.#answerPing();
        return undefined;
      case OPCODE.pong:
        return undefined;
      case OPCODE.close:
        this.#isPeerDone = true;
        this.close(payload.length >= 2 ? payload.readUInt16BE(0) : 1000);
        return undefined;
      default:
        return this.#assemble(opcode === OPCODE.continuation, isLast, payload);
    }
  }

  #assemble(isContinued: boolean, isLast: boolean, payload: Buffer): Buffer | undefined {
    if (isContinued !== this.#pieces.length > 0) throw new FrameError(1002, 'the pieces of a message are not in order');
    if (this.#isClosing) return undefined;
    if (isLast && !isContinued) return payload;
    this.#pieces.push(payload);
    const length = this.#pieces.reduce((sum, piece) => sum + piece.length, 0);
    // Pieces without bytes cost memory too.
    if (length > MAX_FRAME_BYTES || this.#pieces.length > 1_024) throw new FrameError(1009, 'a message is too large');
    if (!isLast) return undefined;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return whole;
  }

  /** Of many pings only the last needs an answer: a client that asks and does not read costs no memory. */
  #answerPing(): void {
    const payload = this.#pendingPong;
    if (payload === undefined || this.#isClosing || !this.#socket.writable || this.#socket.writableNeedDrain) return;
    this.#pendingPong = undefined;
    this.#write(frameHead(OPCODE.pong, payload.length), payload);
  }

  #ping(): void {
    if (this.#isPulled && awakeMs() - this.#heardAtMs > SILENT_MS) {
      this.#socket.destroy();
      return;
    }
    if (!this.#isClosing && this.#socket.writable && !this.#socket.writableNeedDrain) this.#write(frameHead(OPCODE.ping, 0));
  }
}
