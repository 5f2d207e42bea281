/**
 * One message to the guest's MCP server over the agent's socket, and what comes back, line by line as it comes. In HTTP/1.0, where an answer
 * ends with its connection: that takes a few lines, and Node's own client takes long to load.
 */
import { connect } from 'node:net';
import { ownReaderWord, READER_HEADER } from '../agent-socket/readers.ts';

export interface Posted {
  readonly status: number;
  /** Of an answer that is not one of MCP; empty otherwise. */
  readonly text: string;
}

export interface PostOptions {
  readonly socketPath: string;
  readonly body: string;
  /** Aborted: hang up, so that the guest gives it up. */
  readonly signal: AbortSignal;
  /** Each is one message of MCP. */
  readonly onMessage: (line: string) => void;
}

const HEAD_END = '\r\n\r\n';
/** Each message takes a connection of its own, and all of them are one reader's. */
let readerWord: string | undefined;

/** Rejects when there is no answer, or none to its end. */
export function post({ socketPath, body, signal, onMessage }: PostOptions): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    const reader = new AnswerReader(onMessage);
    const hangUp = () => socket.destroy(new Error('cancelled'));
    const finish = () => {
      signal.removeEventListener('abort', hangUp);
      socket.destroy();
    };
    const fail = (why: string) => {
      finish();
      reject(new Error(`the agent does not answer: ${why}`));
    };
    signal.addEventListener('abort', hangUp);
    if (signal.aborted) hangUp();
    socket.on('error', ({ code, message }: NodeJS.ErrnoException) => fail(code ?? message));
    socket.on('data', (chunk: Buffer) => reader.push(chunk));
    socket.on('end', () => {
      const posted = reader.end();
      if (posted === undefined) return fail('it hung up');
      finish();
      resolve(posted);
    });
    readerWord ??= ownReaderWord();
    const accept = 'accept: application/json, text/event-stream';
    const headers = ['host: agent', 'content-type: application/json', accept, `${READER_HEADER}: ${readerWord}`];
    socket.write(`POST /mcp HTTP/1.0\r\n${headers.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}${HEAD_END}${body}`);
  });
}

/** Takes an answer apart: JSON as a whole, events as they come. */
export class AnswerReader {
  readonly #onMessage: (line: string) => void;
  #head: string | undefined;
  #rest: Buffer[] = [];

  constructor(onMessage: (line: string) => void) {
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    this.#rest.push(chunk);
    if (this.#head === undefined) this.#readHead();
    if (this.#isStream && chunk.includes('\n')) this.#readEvents();
  }

  /** Undefined: it has ended too early. */
  end(): Posted | undefined {
    const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(this.#head ?? '') ?? [];
    if (status === undefined) return undefined;
    const [, length] = /\r\ncontent-length: *(\d+)/i.exec(this.#head ?? '') ?? [];
    const body = Buffer.concat(this.#rest);
    if (length !== undefined && body.length < Number(length)) return undefined;
    const text = body.toString('utf8').trim();
    const isMessage = status === '200' && !this.#isStream && text !== '';
    if (isMessage) this.#onMessage(text);
    return { status: Number(status), text: isMessage ? '' : text };
  }

  get #isStream(): boolean {
    return /\r\ncontent-type: *text\/event-stream/i.test(this.#head ?? '');
  }

  #readHead(): void {
    const received = Buffer.concat(this.#rest);
    const end = received.indexOf(HEAD_END);
    if (end < 0) return;
    this.#head = received.toString('latin1', 0, end);
    this.#rest = [received.subarray(end + HEAD_END.length)];
  }

  #readEvents(): void {
    const received = Buffer.concat(this.#rest);
    const end = received.lastIndexOf('\n') + 1;
    this.#rest = [received.subarray(end)];
    for (const line of received.toString('utf8', 0, end).split('\n')) {
      if (line.startsWith('data: ')) this.#onMessage(line.slice('data: '.length));
    }
  }
}
