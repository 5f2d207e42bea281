/** One connection between host and guest, the same class at both ends: many requests in flight in both directions. */
import type { Duplex } from 'node:stream';
import { type Envelope, parseEnvelope } from './envelope.ts';
import { encodeFrame, FrameDecoder } from './framing.ts';
import { IncomingCalls, type IncomingOptions } from './incoming-calls.ts';
import type { Answer, MethodName, Params, Result } from './messages.ts';
import { type CallOptions, OutgoingCalls } from './outgoing-calls.ts';
import { ProtocolError, toProtocolError, toWireError } from './protocol-error.ts';

/** How long a peer has to take the reason and hang up before the connection is cut. */
const CLOSE_GRACE_MS = 1_000;

export class Channel {
  /** Resolves once, with why this connection ended. */
  readonly closed: Promise<ProtocolError>;
  readonly #stream: Duplex;
  readonly #decoder = new FrameDecoder();
  readonly #outgoing = new OutgoingCalls((message) => this.#write(encodeFrame(message)));
  readonly #incoming: IncomingCalls;
  readonly #reportClosed: (reason: ProtocolError) => void;
  #closeReason: ProtocolError | undefined;
  #lastAnswer: Promise<void> = Promise.resolve();

  constructor(stream: Duplex, options: IncomingOptions = {}) {
    let report: (reason: ProtocolError) => void = () => {};
    this.closed = new Promise((resolve) => {
      report = resolve;
    });
    this.#reportClosed = report;
    this.#stream = stream;
    this.#incoming = new IncomingCalls(options, (answer) => this.#answer(answer));
    stream.on('data', (chunk: Uint8Array) => this.#take(chunk));
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

  /** Rejects with the peer's error, with ProtocolError Timeout or Unavailable, or with the signal's reason. */
  async call<M extends MethodName>(type: M, params: Params<M>, options: CallOptions = {}): Promise<Result<M>> {
    if (this.#closeReason !== undefined) throw connectionClosed(this.#closeReason);
    return this.#outgoing.start(type, params, options);
  }

  /** Tells the peer why and hangs up. Work the peer asked for goes on; its answer has nowhere to go. */
  close(reason: ProtocolError): void {
    if (this.#closeReason !== undefined) return;
    const goodbye = encodeFrame({ type: 'close', error: toWireError(reason) });
    this.#end(reason);
    // Unread bytes at the moment of closing would reset the connection and lose the reason on its way.
    this.#stream.resume();
    this.#stream.end(goodbye);
    const cut = setTimeout(() => this.#stream.destroy(), CLOSE_GRACE_MS);
    this.#stream.once('close', () => clearTimeout(cut));
  }

  #take(chunk: Uint8Array): void {
    if (this.#closeReason !== undefined) return;
    try {
      for (const message of this.#decoder.push(chunk)) {
        this.#receive(parseEnvelope(message));
        if (this.#closeReason !== undefined) return;
      }
    } catch (error) {
      this.close(toProtocolError(error));
    }
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
      case 'close': {
        const { code, message } = envelope.close.error;
        this.#end(new ProtocolError(code, `the peer closed the connection: ${message}`));
        this.#stream.destroy();
      }
    }
  }

  /** One answer at a time, and only while the peer keeps reading: answers may be large. */
  #answer(answer: Answer): Promise<void> {
    const frame = encodeAnswer(answer);
    this.#lastAnswer = this.#lastAnswer.then(async () => {
      if (this.#closeReason === undefined && this.#stream.writableNeedDrain) await this.#drained();
      this.#write(frame);
    });
    return this.#lastAnswer;
  }

  async #drained(): Promise<void> {
    let wake: () => void = () => {};
    const drain = new Promise<void>((resolve) => {
      wake = resolve;
      this.#stream.once('drain', resolve);
    });
    await Promise.race([drain, this.closed]);
    this.#stream.off('drain', wake);
  }

  #write(frame: Uint8Array): void {
    if (this.#closeReason === undefined) this.#stream.write(frame);
  }

  #endedBy(): string {
    return this.#decoder.isMidFrame ? 'the peer hung up in the middle of a frame' : 'the peer hung up';
  }

  #end(reason: ProtocolError): void {
    if (this.#closeReason !== undefined) return;
    this.#closeReason = reason;
    this.#outgoing.rejectAll(connectionClosed(reason));
    this.#reportClosed(reason);
  }
}

/** The reason's own code would tell a caller that its call was wrong. */
function connectionClosed(reason: ProtocolError): ProtocolError {
  return new ProtocolError('Unavailable', `connection closed: ${reason.message}`, reason);
}

function encodeAnswer(answer: Answer): Uint8Array {
  try {
    return encodeFrame(answer);
  } catch (error) {
    return encodeFrame({ id: answer.id, error: toWireError(error) });
  }
}
