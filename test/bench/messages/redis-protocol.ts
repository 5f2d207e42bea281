/** As much of the Redis protocol as a stream needs: commands out, replies in. Pure but for the socket. */
import type { Socket } from 'node:net';

export type Reply = string | number | null | readonly Reply[] | Error;

export function encodeCommand(words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

/** Replies come in the order of the commands. */
export class RedisConnection {
  readonly #socket: Socket;
  readonly #waiting: ((reply: Reply) => void)[] = [];
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#take(chunk));
  }

  /** Rejects with what the server refuses. */
  call(...words: readonly string[]): Promise<Reply> {
    this.#socket.write(encodeCommand(words));
    return new Promise((resolve, reject) => {
      this.#waiting.push((reply) => (reply instanceof Error ? reject(reply) : resolve(reply)));
    });
  }

  #take(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (let read = readReply(this.#rest, at); read; read = readReply(this.#rest, at)) {
      at = read.end;
      this.#waiting.shift()?.(read.reply);
    }
    this.#rest = this.#rest.subarray(at);
  }
}

interface Read {
  readonly reply: Reply;
  readonly end: number;
}

/** The reply that begins at `at`; undefined when it is not all there yet. */
export function readReply(data: Buffer, at: number): Read | undefined {
  const lineEnd = data.indexOf('\r\n', at);
  if (lineEnd < 0) return undefined;
  const line = data.toString('utf8', at + 1, lineEnd);
  const next = lineEnd + 2;
  switch (String.fromCharCode(data[at] ?? 0)) {
    case '+':
      return { reply: line, end: next };
    case '-':
      return { reply: new Error(line), end: next };
    case ':':
      return { reply: Number(line), end: next };
    case '$':
      return readText(data, next, Number(line));
    case '*':
      return readList(data, next, Number(line));
    default:
      throw new Error(`not a Redis reply: ${JSON.stringify(line)}`);
  }
}

function readText(data: Buffer, at: number, length: number): Read | undefined {
  if (length < 0) return { reply: null, end: at };
  if (data.length < at + length + 2) return undefined;
  return { reply: data.toString('utf8', at, at + length), end: at + length + 2 };
}

function readList(data: Buffer, at: number, length: number): Read | undefined {
  if (length < 0) return { reply: null, end: at };
  const items: Reply[] = [];
  let end = at;
  for (let index = 0; index < length; index += 1) {
    const read = readReply(data, end);
    if (!read) return undefined;
    items.push(read.reply);
    end = read.end;
  }
  return { reply: items, end };
}
