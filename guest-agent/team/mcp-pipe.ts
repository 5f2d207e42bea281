/**
 * MCP on standard input and output, one message a line, for the guest's server behind the agent's socket. It knows of MCP only what a pipe
 * must: which call a client cancels, and what to tell one when the guest is not there.
 */
import { toErrorResult } from '#protocol/tool-surface.ts';
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isFields,
  PARSE_ERROR,
  type RpcMessage,
  readMessage,
  toErrorResponse,
  toResponse,
} from '../mcp/json-rpc.ts';
import { type Line, linesOf, MAX_LINE_BYTES } from './mcp-lines.ts';
import { type Posted, post } from './mcp-post.ts';

/** For answers that are on their way when the client has closed its end. */
const END_MS = 1_000;

export interface PipeOptions {
  readonly socketPath: string;
  readonly input: AsyncIterable<Buffer>;
  /** One message. Must not throw. */
  readonly print: (line: string) => void;
}

type Request = RpcMessage & { readonly kind: 'request' };

/** Resolves when the input has ended and what was asked is answered, or soon after. */
export async function pipeMcp({ input, ...options }: PipeOptions): Promise<void> {
  const pipe = new Pipe(options);
  for await (const line of linesOf(input)) pipe.take(line);
  await pipe.end();
}

class Pipe {
  readonly #options: Omit<PipeOptions, 'input'>;
  /** By the id of the request. */
  readonly #cancellers = new Map<unknown, AbortController>();
  readonly #posts = new Set<Promise<void>>();

  constructor(options: Omit<PipeOptions, 'input'>) {
    this.#options = options;
  }

  take(line: Line): void {
    const value = line === 'too long' ? undefined : parse(line.text);
    if (line === 'too long') this.#print(toErrorResponse(null, INVALID_REQUEST, `a message has at most ${MAX_LINE_BYTES} bytes`));
    else if (value === undefined) this.#print(toErrorResponse(null, PARSE_ERROR, 'a message must be JSON on one line'));
    else this.#passOn(line.text, (Array.isArray(value) ? value : [value]).map(readMessage));
  }

  #passOn(text: string, messages: readonly RpcMessage[]): void {
    const cancelled = messages.length === 1 ? cancelledBy(messages[0]) : undefined;
    if (cancelled !== undefined) {
      this.#cancellers.get(cancelled)?.abort();
      return;
    }
    const posted: Promise<void> = this.#post(text, messages).finally(() => this.#posts.delete(posted));
    this.#posts.add(posted);
  }

  async end(): Promise<void> {
    await Promise.race([Promise.all(this.#posts), new Promise((resolve) => setTimeout(resolve, END_MS))]);
  }

  #print(message: object): void {
    this.#options.print(JSON.stringify(message));
  }

  async #post(body: string, messages: readonly RpcMessage[]): Promise<void> {
    const canceller = new AbortController();
    const requests = messages.filter((message): message is Request => message.kind === 'request');
    for (const { id } of requests) this.#cancellers.set(id, canceller);
    const { socketPath, print } = this.#options;
    const problem = await post({ socketPath, body, signal: canceller.signal, onMessage: print }).then(refusalIn, messageOf);
    for (const { id } of requests) if (this.#cancellers.get(id) === canceller) this.#cancellers.delete(id);
    // Who has cancelled wants no answer; a notification never gets one.
    if (problem === undefined || canceller.signal.aborted) return;
    for (const request of requests) this.#print(complaint(request, problem));
  }
}

/** A model reads what tools answer; what else fails is for its client. */
function complaint({ id, method }: Request, message: string): object {
  if (method !== 'tools/call') return toErrorResponse(id, INTERNAL_ERROR, message);
  return toResponse(id, toErrorResult({ code: 'Unavailable', message, hint: 'try again a little later' }));
}

function cancelledBy(message: RpcMessage | undefined): unknown {
  return message?.kind === 'notification' && message.method === 'notifications/cancelled' ? message.params['requestId'] : undefined;
}

/** What the guest, or what stands in its place, has said that is no MCP. */
function refusalIn({ status, text }: Posted): string | undefined {
  if (status < 300) return undefined;
  const body = parse(text);
  const { code = status, message = text.slice(0, 200) } = isFields(body) ? body : {};
  return `${code}: ${message}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
