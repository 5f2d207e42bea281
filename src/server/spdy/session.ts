/**
 * The server's end of one SPDY/3.1 session, over a socket or inside a WebSocket. It knows what Kubernetes' clients use: streams that they
 * open, data both ways, pings. Windows are neither kept nor asked for, because those clients have none.
 */
import { controlFrame, dataHead, FLAG_FIN, RST, type SpdyFrame, SpdyFrameReader, TYPE, words } from './frames.ts';
import { HeaderReader, HeaderWriter } from './headers.ts';
import { SpdyStream, type StreamPort } from './stream.ts';

/** What carries the frames. */
export interface Carrier {
  /** What the client sends; held back while nobody asks. */
  chunks(): AsyncIterable<Buffer>;
  /** False: no more before `drained`. */
  send(...parts: readonly Buffer[]): boolean;
  drained(): Promise<void>;
  close(): void;
}

/** Two for each forwarded connection. */
const MAX_STREAMS = 256;
const SENT_AT_ONCE = 32 * 1024;

export class SpdySession implements StreamPort {
  readonly #carrier: Carrier;
  readonly #onStream: (stream: SpdyStream) => void;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #frames = new SpdyFrameReader();
  readonly #reader = new HeaderReader();
  readonly #writer = new HeaderWriter();
  #lastId = 0;
  #isOver = false;

  constructor(carrier: Carrier, onStream: (stream: SpdyStream) => void) {
    this.#carrier = carrier;
    this.#onStream = onStream;
  }

  /** Until the client leaves or says what is not SPDY. Never throws. */
  async run(): Promise<void> {
    try {
      for await (const bytes of this.#carrier.chunks()) {
        for (const frame of this.#frames.push(bytes)) await this.#take(frame);
      }
    } catch {
      this.#carrier.send(controlFrame(TYPE.goAway, words(this.#lastId, 1)));
    } finally {
      this.close();
    }
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const stream of this.#streams.values()) stream.reset();
    this.#reader.close();
    this.#writer.close();
    this.#carrier.close();
  }

  async data(stream: number, bytes: Buffer, isFin: boolean): Promise<void> {
    for (let at = 0; at < bytes.length || (isFin && at === 0); at += SENT_AT_ONCE) {
      if (this.#isOver) return;
      const piece = bytes.subarray(at, at + SENT_AT_ONCE);
      if (!this.#carrier.send(dataHead(stream, piece.length, isFin), piece)) await this.#carrier.drained();
    }
  }

  closed(stream: number, isClean: boolean): void {
    this.#streams.delete(stream);
    if (!isClean) this.#reset(stream, RST.cancel);
  }

  async #take(frame: SpdyFrame): Promise<void> {
    if (frame.kind === 'control') {
      await this.#control(frame.type, frame.flags, frame.payload);
      return;
    }
    const stream = this.#streams.get(frame.stream);
    await stream?.receive(frame.bytes);
    if (frame.isFin) stream?.receiveEnd();
  }

  async #control(type: number, flags: number, payload: Buffer): Promise<void> {
    switch (type) {
      case TYPE.synStream:
        await this.#open(flags, payload);
        return;
      case TYPE.headers:
        // Of no use here; but the next ones build on them.
        await this.#reader.read(payload.subarray(4));
        return;
      case TYPE.rstStream:
        this.#streams.get(payload.readUInt32BE(0) & 0x7fffffff)?.reset();
        return;
      case TYPE.ping:
        await this.#answerPing(payload);
        return;
      default:
        // Settings, windows, a goodbye: nothing follows from them.
        return;
    }
  }

  async #open(flags: number, payload: Buffer): Promise<void> {
    const id = payload.readUInt32BE(0) & 0x7fffffff;
    const headers = await this.#reader.read(payload.subarray(10));
    if (id % 2 === 0 || id <= this.#lastId) throw new Error(`the client opens the stream ${id}, which it cannot`);
    this.#lastId = id;
    if (this.#streams.size >= MAX_STREAMS) {
      this.#reset(id, RST.refusedStream);
      await this.#carrier.drained();
      return;
    }
    const stream = new SpdyStream(id, headers, this);
    this.#streams.set(id, stream);
    this.#carrier.send(controlFrame(TYPE.synReply, words(id), await this.#writer.write({})));
    await this.#carrier.drained();
    if ((flags & FLAG_FIN) !== 0) stream.receiveEnd();
    this.#onStream(stream);
  }

  /** Odd ones are the client's; an even one would be an answer to a ping of ours. */
  async #answerPing(payload: Buffer): Promise<void> {
    const id = payload.readUInt32BE(0);
    if (id % 2 === 1) this.#carrier.send(controlFrame(TYPE.ping, words(id)));
    // A client that asks and does not read must not fill the memory.
    await this.#carrier.drained();
  }

  #reset(stream: number, status: number): void {
    if (!this.#isOver) this.#carrier.send(controlFrame(TYPE.rstStream, words(stream, status)));
  }
}
