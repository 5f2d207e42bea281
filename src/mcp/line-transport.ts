/**
 * MCP over a stream of bytes, one JSON-RPC message a line. It is on the way of every call, so it checks messages by hand. A client that
 * does not read its answers is not read from; what is no message is refused and the session goes on.
 */
import type { Duplex } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { BoundedLines, type CutLine } from '#lib/bounded-lines.ts';
import {
  idOf,
  idOfCut,
  MAX_BATCH,
  MAX_MESSAGE_BYTES,
  messageProblem,
  RPC_CODES,
  type RpcFailure,
  refusal,
  tooLarge,
} from '#lib/json-rpc.ts';
import { jsonOf } from './answer-json.ts';

export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #stream: Duplex;
  readonly #lines: BoundedLines;
  #isClosed = false;

  constructor(stream: Duplex, { maxBytes = MAX_MESSAGE_BYTES }: { readonly maxBytes?: number } = {}) {
    this.#stream = stream;
    this.#lines = new BoundedLines(maxBytes, {
      onLine: (line) => this.#take(line),
      onTooLong: (line: CutLine) => this.#refuse(idOfCut(line), tooLarge()),
    });
  }

  async start(): Promise<void> {
    const stream = this.#stream;
    stream.on('data', (chunk: Buffer) => {
      this.#lines.push(chunk);
      if (stream.writableNeedDrain) stream.pause();
    });
    stream.on('drain', () => stream.resume());
    stream.on('error', (error) => this.onerror?.(error));
    stream.on('close', () => this.#closed());
    // Nobody will read an answer after this.
    stream.on('end', () => stream.destroy());
    if (stream.destroyed) this.#closed();
  }

  send(message: JSONRPCMessage): Promise<void> {
    this.#write(message);
    return SENT;
  }

  async close(): Promise<void> {
    this.#stream.destroy();
    this.#closed();
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #write(message: object): void {
    if (this.#stream.writable) this.#stream.write(`${jsonOf(message)}\n`);
  }

  #take(line: Buffer): void {
    let value: unknown;
    try {
      value = JSON.parse(line.toString('utf8'));
    } catch {
      this.#refuse(null, { code: RPC_CODES.parseError, message: 'the line is not JSON' });
      return;
    }
    if (Array.isArray(value) && value.length > 0 && value.length <= MAX_BATCH) for (const each of value) this.#give(each);
    else this.#give(value);
  }

  #give(value: unknown): void {
    const problem = messageProblem(value);
    if (problem) this.#refuse(idOf(value), problem);
    else this.onmessage?.(value as JSONRPCMessage);
  }

  #refuse(id: string | number | null, failure: RpcFailure): void {
    this.#write(refusal(id, failure));
  }
}

/** Writing never fails for whoever sends: a client that is gone closes the session. */
const SENT = Promise.resolve();
