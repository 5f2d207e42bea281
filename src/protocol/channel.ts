/** One connection between host and guest, the same class at both ends: many requests in flight in both directions. */
import type { Duplex } from 'node:stream';
import { type Envelope, parseEnvelope } from './envelope.ts';
import { encodeFrame, encodeFrames, FrameDecoder, toBody } from './framing.ts';
import { IncomingCalls, type IncomingOptions } from './incoming-calls.ts';
import type { Answer, StreamMessage } from './messages.ts';
import {
  type HandlersOf,
  hasStreams,
  type Method,
  type MethodTable,
  type NameIn,
  type OpenCallOf,
  type ParamsOf,
  type ResultOf,
} from './method.ts';
import { type CallOptions, OutgoingCalls } from './outgoing-calls.ts';
import { ProtocolError, toProtocolError, toWireError } from './protocol-error.ts';

/** How long a peer has to take the reason and hang up before the connection is cut. */
const CLOSE_GRACE_MS = 1_000;
/** From the first byte of a frame to its last. */
const FRAME_MS = 30_000;
/** Frames of one turn of the event loop go out together, up to so many characters. */
const GATHERED_CHARACTERS = 64 * 1024;
const DONE: Promise<void> = Promise.resolve();

export interface ChannelOptions<Out extends MethodTable, In extends MethodTable> extends Pick<IncomingOptions, 'admit' | 'explainUnknown'> {
  /** What the other side may be asked. */
  readonly outgoing: Out;
  /** What this side answers. A side without handlers is not to be asked anything. */
  readonly incoming?: In;
  readonly handlers?: HandlersOf<In>;
  readonly frameMs?: number;
}

// biome-ignore lint/complexity/noBannedTypes: the empty table.
export class Channel<Out extends MethodTable = {}, In extends MethodTable = {}> {
  /** Resolves once, with why this connection ended. */
  readonly closed: Promise<ProtocolError>;
  readonly #stream: Duplex;
  readonly #methods: Out;
  readonly #frameMs: number;
  readonly #decoder = new FrameDecoder();
  readonly #outgoing: OutgoingCalls;
  readonly #incoming: IncomingCalls;
  readonly #reportClosed: (reason: ProtocolError) => void;
  #closeReason: ProtocolError | undefined;
  #lastAnswer: Promise<void> = DONE;
  #waitingAnswers = 0;
  #gathered: string[] = [];
  #gatheredCharacters = 0;
  #frameTimer: NodeJS.Timeout | undefined;
  #hasHeard = false;
  /** Until the connection takes more, or is closed: one for all who wait, however many streams it carries. */
  #room: { readonly made: Promise<void>; readonly report: () => void } | undefined;

  constructor(stream: Duplex, { outgoing, incoming, handlers, frameMs = FRAME_MS, ...rest }: ChannelOptions<Out, In>) {
    let report: (reason: ProtocolError) => void = () => {};
    this.closed = new Promise((resolve) => {
      report = resolve;
    });
    this.#reportClosed = report;
    this.#stream = stream;
    this.#methods = outgoing;
    this.#frameMs = frameMs;
    const sendFrame = (message: StreamMessage) => this.#sendFrame(message);
    this.#outgoing = new OutgoingCalls((body) => this.#write(body), sendFrame);
    const options = incoming === undefined || handlers === undefined ? undefined : { methods: incoming, handlers, ...rest };
    this.#incoming = new IncomingCalls(options, (answer) => this.#answer(answer), sendFrame);
    stream.on('data', (chunk: Uint8Array) => this.#take(chunk));
    stream.on('drain', () => this.#makeRoom());
    stream.on('error', (error) => this.#end(new ProtocolError('Unavailable', `connection failed: ${error.message}`, error)));
    stream.once('end', () => {
      this.#end(new ProtocolError('Unavailable', this.#endedBy()));
      stream.destroy();
    });
    stream.once('close', () => this.#end(new ProtocolError('Unavailable', 'the connection was closed')));
  }

  /** Answers that came after their call was given up. */
  get lateAnswers(): number {
    return this.#outgoing.lateAnswers;
  }

  /** Rejects with the peer's error, with ProtocolError Timeout or Unavailable, or with the signal's reason. What it streams back is not read. */
  async call<M extends NameIn<Out>>(type: M, params: ParamsOf<Out, M>, options: CallOptions = {}): Promise<ResultOf<Out, M>> {
    const { result, up, down } = this.open(type, params, options);
    if (!hasStreams(this.#methods[type] as Method)) return result as Promise<ResultOf<Out, M>>;
    for (const stream of Object.values(up as Record<string, NodeJS.WritableStream>)) stream.end();
    for (const stream of Object.values(down as Record<string, NodeJS.ReadableStream>)) stream.resume();
    return result;
  }

  /** The same for params whose JSON is made already. It is sent as it is: whoever made it answers for it. */
  callWithJson<M extends NameIn<Out>>(type: M, paramsJson: string, options: CallOptions = {}): Promise<ResultOf<Out, M>> {
    if (this.#closeReason !== undefined) return Promise.reject(connectionClosed(this.#closeReason));
    return this.#outgoing.start(type, this.#methods[type] as Method, paramsJson, options).result as Promise<ResultOf<Out, M>>;
  }

  /** A call with its streams. Throws when the connection is closed or the request cannot be sent. */
  open<M extends NameIn<Out>>(type: M, params: ParamsOf<Out, M>, options: CallOptions = {}): OpenCallOf<Out, M> {
    if (this.#closeReason !== undefined) throw connectionClosed(this.#closeReason);
    return this.#outgoing.start(type, this.#methods[type] as Method, JSON.stringify(params), options) as OpenCallOf<Out, M>;
  }

  /** Tells the peer why and hangs up. Work the peer asked for goes on; its answer has nowhere to go. */
  close(reason: ProtocolError): void {
    if (this.#closeReason !== undefined) return;
    const goodbye = encodeFrame({ type: 'close', error: toWireError(reason) });
    this.flush();
    this.#end(reason);
    // Unread bytes at the moment of closing would reset the connection and lose the reason on its way.
    this.#stream.resume();
    this.#stream.end(goodbye);
    const cut = setTimeout(() => this.#stream.destroy(), CLOSE_GRACE_MS);
    this.#stream.once('close', () => clearTimeout(cut));
  }

  /** What was said in this turn goes out at its end; with this, now. */
  flush(): void {
    if (this.#gathered.length === 0 || this.#closeReason !== undefined) return;
    const frames = encodeFrames(this.#gathered);
    this.#gathered = [];
    this.#gatheredCharacters = 0;
    this.#stream.write(frames);
  }

  #take(chunk: Uint8Array): void {
    if (this.#closeReason !== undefined) return;
    this.#hasHeard = true;
    try {
      for (const message of this.#decoder.push(chunk)) {
        this.#clearFrameTimer();
        this.#receive(parseEnvelope(message));
        if (this.#closeReason !== undefined) return;
      }
      if (this.#decoder.isMidFrame && this.#frameTimer === undefined) this.#startFrameTimer();
    } catch (error) {
      this.close(toProtocolError(error));
    }
  }

  /** What came while this process stood still is read after its timers: a frame of which there is more has as long again. */
  #judgeSlow(): void {
    const timer = this.#frameTimer;
    this.#hasHeard = false;
    setImmediate(() => {
      if (this.#frameTimer !== timer || this.#closeReason !== undefined) return;
      if (this.#hasHeard) this.#startFrameTimer();
      else this.close(new ProtocolError('Timeout', `a frame was not complete ${this.#frameMs} ms after its first byte`));
    });
  }

  #startFrameTimer(): void {
    this.#frameTimer = setTimeout(() => this.#judgeSlow(), this.#frameMs);
  }

  #clearFrameTimer(): void {
    clearTimeout(this.#frameTimer);
    this.#frameTimer = undefined;
  }

  #receive(envelope: Envelope): void {
    switch (envelope.kind) {
      case 'request':
        this.#incoming.start(envelope.request);
        break;
      case 'answer':
        this.#outgoing.settle(envelope.answer);
        break;
      case 'cancel':
        this.#incoming.cancel(envelope.cancel.id);
        break;
      case 'stream':
        (envelope.stream.side === 'caller' ? this.#incoming : this.#outgoing).take(envelope.stream);
        break;
      case 'close': {
        const { code, message } = envelope.close.error;
        this.#end(new ProtocolError(code, `the peer closed the connection: ${message}`));
        this.#stream.destroy();
      }
    }
  }

  /** One answer at a time, and only while the peer keeps reading: answers may be large. */
  #answer(answer: Answer): Promise<void> | undefined {
    const body = toAnswerBody(answer);
    if (this.#waitingAnswers === 0 && !this.#stream.writableNeedDrain) {
      this.#write(body);
      return undefined;
    }
    this.#waitingAnswers += 1;
    this.#lastAnswer = this.#lastAnswer.then(async () => {
      await this.#drained();
      this.#waitingAnswers -= 1;
      this.#write(body);
    });
    return this.#lastAnswer;
  }

  async #sendFrame(message: StreamMessage): Promise<void> {
    this.#write(toBody(message));
    await this.#drained();
  }

  /** Resolves when the connection takes more, or is closed. */
  #drained(): Promise<void> {
    if (this.#closeReason !== undefined || !this.#stream.writableNeedDrain) return DONE;
    this.#room ??= awaited();
    return this.#room.made;
  }

  #makeRoom(): void {
    this.#room?.report();
    this.#room = undefined;
  }

  #write(body: string): void {
    if (this.#closeReason !== undefined) return;
    this.#gathered.push(body);
    this.#gatheredCharacters += body.length;
    if (this.#gatheredCharacters >= GATHERED_CHARACTERS) this.flush();
    // When everything has run that this turn has set going.
    else if (this.#gathered.length === 1) process.nextTick(() => this.flush());
  }

  #endedBy(): string {
    return this.#decoder.isMidFrame ? 'the peer hung up in the middle of a frame' : 'the peer hung up';
  }

  #end(reason: ProtocolError): void {
    if (this.#closeReason !== undefined) return;
    this.#closeReason = reason;
    this.#clearFrameTimer();
    this.#outgoing.rejectAll(connectionClosed(reason));
    this.#incoming.disconnect(reason);
    this.#reportClosed(reason);
    this.#makeRoom();
  }
}

function awaited(): { readonly made: Promise<void>; readonly report: () => void } {
  let report: () => void = () => {};
  const made = new Promise<void>((resolve) => {
    report = resolve;
  });
  return { made, report };
}

/** The reason's own code would tell a caller that its call was wrong. */
function connectionClosed(reason: ProtocolError): ProtocolError {
  return new ProtocolError('Unavailable', `connection closed: ${reason.message}`, reason);
}

function toAnswerBody(answer: Answer): string {
  try {
    return toBody(answer);
  } catch (error) {
    return toBody({ id: answer.id, error: toWireError(error) });
  }
}
