/**
 * A client on one side, the daemon's MCP socket on the other. Lines pass as they are; beside that the pipe knows which requests are on
 * their way, so that each gets an answer when the daemon goes away, and how the client introduced itself, so that its session goes on
 * with the next one.
 */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { BoundedLines, eachLine } from '#lib/bounded-lines.ts';
import {
  idOfCut,
  isRequestId,
  MAX_MESSAGE_BYTES,
  messageProblem,
  type RequestId,
  RPC_CODES,
  type RpcFailure,
  type RpcMessage,
  refusal,
  tooLarge,
} from '#lib/json-rpc.ts';
import { answeredId } from './answered-id.ts';
import { Handshake, isOwnId } from './handshake.ts';
import { HeldLines } from './held-lines.ts';
import type { OnLent } from './lent-bytes.ts';
import { awaitSocket, openSocket } from './link.ts';

export interface PipeOptions {
  readonly home: string;
  /** Begins to read what the client says. */
  readonly openInput: (onBytes: OnLent) => Readable;
  /** Whole lines for the client. They are written, or copied, when it returns. */
  readonly output: (lines: Buffer) => void;
  readonly log: (text: string) => void;
  /** One sentence for whoever finds no daemon. */
  readonly whenAbsent: (cause: NodeJS.ErrnoException) => string;
  readonly signal: AbortSignal;
  /** How long requests wait for the next daemon. */
  readonly holdMs?: number;
}

/** Resolves when the client is gone. */
export interface PipeEnd {
  /** False: there never was a daemon. */
  readonly wasServed: boolean;
}

const HOLD_MS = 10_000;
/** After the client's last word: for the answers that are still on their way. */
const LAST_ANSWERS_MS = 1_000;
/** The daemon's own answers are as long as they have to be. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export function runPipe(options: PipeOptions): Promise<PipeEnd> {
  return new Promise((resolve) => new Pipe(options, resolve).start());
}

class Pipe {
  readonly #options: PipeOptions;
  readonly #resolve: (end: PipeEnd) => void;
  readonly #handshake = new Handshake();
  /** Requests that the daemon has. */
  readonly #pending = new Set<RequestId>();
  /** Answers that are still to come and are for nobody; while there are none, a line goes out before it is looked at. */
  #ownAnswers = 0;
  /** For the next daemon. */
  readonly #held = new HeldLines();
  #lastTimer: NodeJS.Timeout | undefined;
  #input: Readable | undefined;
  #socket: Socket | undefined;
  /** Why nobody answers, in one sentence. */
  #absent = 'the daemon does not answer';
  #wasServed = false;
  #isEnding = false;
  readonly #ended = new AbortController();

  constructor(options: PipeOptions, resolve: (end: PipeEnd) => void) {
    this.#options = options;
    this.#resolve = resolve;
  }

  start(): void {
    const { openInput, signal } = this.#options;
    const lines = new BoundedLines(MAX_MESSAGE_BYTES, {
      onLine: (line) => this.#fromClient(line),
      onTooLong: (cut) => this.#refuse(idOfCut(cut), tooLarge()),
    });
    this.#input = openInput((bytes) => {
      if (this.#socket && lines.isWhole(bytes)) this.#pass(this.#socket, bytes);
      else lines.push(Buffer.from(bytes));
    });
    this.#input.on('end', () => this.#inputEnded());
    this.#input.on('error', () => this.#inputEnded());
    if (signal.aborted) this.#finish();
    signal.addEventListener('abort', () => this.#finish(), { once: true });
    void this.#connectFirst();
  }

  async #connectFirst(): Promise<void> {
    const { home, whenAbsent } = this.#options;
    try {
      this.#use(await openSocket(home, this.#reader()));
    } catch (error) {
      this.#absent = whenAbsent(error as NodeJS.ErrnoException);
      this.#options.log(this.#absent);
      this.#giveUp(this.#held.close());
      if (this.#isEnding) this.#finish();
      else await this.#connectAgain();
    }
  }

  async #connectAgain(): Promise<void> {
    const socket = await awaitSocket(this.#options.home, this.#reader(), this.#ended.signal);
    if (socket && !this.#isOver) this.#use(socket);
    else socket?.destroy();
  }

  get #isOver(): boolean {
    return this.#ended.signal.aborted;
  }

  /** Of one daemon: half a line of it is not the beginning of what the next one says. */
  #reader(): OnLent {
    const lines = new BoundedLines(MAX_ANSWER_BYTES, {
      onLine: (line) => this.#fromDaemon(line),
      onTooLong: (cut) => this.#refuse(idOfCut(cut), { code: RPC_CODES.internalError, message: 'the answer is too long to be passed on' }),
    });
    return (bytes) => {
      if (this.#ownAnswers === 0 && lines.isWhole(bytes)) this.#give(bytes);
      else lines.push(Buffer.from(bytes));
    };
  }

  #use(socket: Socket): void {
    if (this.#isOver) {
      socket.destroy();
      return;
    }
    socket.on('error', () => {});
    socket.on('close', () => this.#lost());
    const isNext = this.#wasServed;
    this.#socket = socket;
    this.#wasServed = true;
    if (isNext) this.#goOn();
    for (const line of this.#held.take()) this.#pass(socket, line);
  }

  /** What may have changed meanwhile is told as changed. */
  #goOn(): void {
    this.#options.log('the daemon is back');
    const again = this.#handshake.again();
    for (const message of again) this.#socket?.write(`${JSON.stringify(message)}\n`);
    this.#ownAnswers = again.filter(({ id }) => id !== undefined).length;
    if (!this.#handshake.isAccepted) return;
    this.#tell('notifications/resources/list_changed');
    for (const uri of this.#handshake.followed) this.#tell('notifications/resources/updated', { uri });
  }

  #lost(): void {
    this.#socket = undefined;
    if (this.#isOver) return;
    this.#readOn();
    for (const id of this.#pending) this.#refuse(id, RESTARTED);
    this.#pending.clear();
    this.#ownAnswers = 0;
    if (this.#isEnding) {
      this.#finish();
      return;
    }
    this.#options.log('the daemon ended; waiting for the next one');
    this.#absent = this.#options.whenAbsent(Object.assign(new Error('it ended'), { code: 'ECONNRESET' }));
    this.#held.closeAfter(this.#options.holdMs ?? HOLD_MS, (lines) => this.#giveUp(lines));
    void this.#connectAgain();
  }

  /** Whoever waits for a daemon does not wait for ever. */
  #giveUp(lines: readonly Buffer[]): void {
    for (const line of lines) {
      const { message } = parsed(line);
      const isRequest = message?.method !== undefined && isRequestId(message.id);
      if (isRequest) this.#refuse(message.id, { code: RPC_CODES.unavailable, message: this.#absent });
    }
  }

  #fromClient(line: Buffer): void {
    if (this.#socket) this.#pass(this.#socket, line);
    else if (!this.#held.hold(line)) this.#giveUp([line]);
  }

  /** First on their way, then looked at. */
  #pass(socket: Socket, lines: Buffer): void {
    socket.write(lines, this.#readOn);
    // They may be lent: nothing else is read before all has gone.
    if (socket.writableLength > 0) this.#input?.pause();
    for (const line of eachLine(lines)) this.#noteAsked(line);
  }

  readonly #readOn = () => {
    if (!this.#socket?.writableLength) this.#input?.resume();
  };

  #noteAsked(line: Buffer): void {
    const { message } = parsed(line);
    if (message?.method === undefined) return;
    if (isRequestId(message.id)) this.#pending.add(message.id);
    // What the client takes back is not answered.
    else if (message.method === 'notifications/cancelled') this.#pending.delete(message.params?.['requestId'] as RequestId);
    this.#handshake.said(message);
  }

  #fromDaemon(line: Buffer): void {
    if (this.#ownAnswers > 0 && isOwnId(answeredId(line))) this.#ownAnswers--;
    else this.#give(line);
  }

  #give(lines: Buffer): void {
    this.#options.output(lines);
    for (const line of eachLine(lines)) this.#noteAnswered(answeredId(line));
  }

  #noteAnswered(id: RequestId | undefined): void {
    if (id === undefined) return;
    this.#pending.delete(id);
    this.#handshake.answered(id);
    if (this.#isEnding && this.#pending.size === 0) this.#finish();
  }

  #refuse(id: RequestId | null, failure: RpcFailure): void {
    this.#say(refusal(id, failure));
  }

  #tell(method: string, params?: object): void {
    this.#say({ jsonrpc: '2.0', method, ...(params && { params }) });
  }

  #say(message: object): void {
    this.#options.output(Buffer.from(`${JSON.stringify(message)}\n`));
  }

  #inputEnded(): void {
    this.#isEnding = true;
    if (this.#pending.size === 0 && this.#held.isEmpty) this.#finish();
    else this.#lastTimer = setTimeout(() => this.#finish(), LAST_ANSWERS_MS);
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#ended.abort();
    // Whoever interrupts wants no answers any more.
    const rest = this.#held.close();
    if (this.#isEnding) this.#giveUp(rest);
    clearTimeout(this.#lastTimer);
    this.#socket?.destroy();
    this.#input?.destroy();
    this.#resolve({ wasServed: this.#wasServed });
  }
}

const RESTARTED: RpcFailure = {
  code: RPC_CODES.unavailable,
  message: 'the daemon ended or was restarted while this request was on its way; look whether it was done, then ask again',
};

/** Nothing for what is no message: the daemon says what is wrong with it. */
function parsed(line: Buffer): { readonly message?: RpcMessage } {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return messageProblem(value) === undefined ? { message: value as RpcMessage } : {};
  } catch {
    return {};
  }
}
