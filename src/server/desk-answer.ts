/** One request at a desk: whether it may be, what the desk says, and that onto the wire. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { drained } from '#lib/drained.ts';
import { AgentisoError } from '#lib/errors.ts';
import type { Identity } from './auth/identity.ts';
import { checkRights } from './authorised.ts';
import { decodeBody } from './body/decode.ts';
import type { Answer } from './call.ts';
import type { DeskAnswer, DeskPlace } from './desk.ts';
import { codedStatus } from './errors.ts';
import { readBody } from './request-body.ts';
import { failure } from './status.ts';
import type { StreamPlace } from './streams/running.ts';

export interface DeskCall extends DeskPlace {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly identity: Identity;
  readonly query: URLSearchParams;
  /** As it was asked for, for refusals. */
  readonly asked: string;
  /** A place among the streams of this user; refused when there are too many. */
  enter(): StreamPlace;
}

/** Undefined: the answer was a stream, or the desk's own, and it is over. */
export async function deskAnswer(call: DeskCall): Promise<Answer | undefined> {
  const { desk, request, response, identity } = call;
  const { method = '' } = request;
  if (!desk.may(identity, method)) refuse(identity, method, call.asked);
  const ended = new AbortController();
  response.on('close', () => ended.abort());
  try {
    if (desk.serve) {
      await desk.serve({ path: call.path, request, response, identity, signal: ended.signal, enter: call.enter });
      return undefined;
    }
    const said = await desk.answer({ ...toRequest(call), method, signal: ended.signal });
    if ('body' in said) return said;
    if ('value' in said) return { status: said.status, body: JSON.stringify(said.value) };
    await stream(said, call, ended);
    return undefined;
  } catch (error) {
    throw error instanceof AgentisoError ? codedStatus(error) : error;
  }
}

function refuse(identity: Identity, method: string, path: string): never {
  checkRights(identity, { verb: method.toLowerCase(), path });
  // The table of rules would let it pass; the desk knows better.
  throw failure(403, `forbidden: User ${JSON.stringify(identity.user)} cannot ${method.toLowerCase()} path ${JSON.stringify(path)}`);
}

function toRequest({ path, query, request, identity }: DeskCall) {
  const contentType = request.headers['content-type'];
  return {
    path,
    query,
    contentType,
    identity,
    body: () => readBody(request),
    fields: async () => decodeBody(contentType, await readBody(request), { kind: 'request' }).value,
  };
}

type Streamed = Exclude<DeskAnswer, Answer | { readonly value: unknown }>;

async function stream(said: Streamed, { response, enter }: DeskCall, ended: AbortController): Promise<void> {
  const place = enter();
  place.signal.addEventListener('abort', () => ended.abort(), { once: true });
  const [pieces, contentType] = 'lines' in said ? [toLines(said.lines), 'application/json'] : [said.bytes, said.contentType];
  const headers = 'headers' in said ? said.headers : {};
  try {
    response.writeHead(said.status, { 'Content-Type': contentType, 'Cache-Control': 'no-cache, private', ...headers });
    // Whoever follows is told at once that it is heard, also when there is nothing to say yet.
    response.flushHeaders();
    for await (const piece of pieces) {
      if (ended.signal.aborted) break;
      response.write(piece);
      await drained(response);
    }
    response.end();
  } finally {
    place.leave();
  }
}

async function* toLines(values: AsyncIterable<unknown>): AsyncIterable<string> {
  for await (const value of values) yield `${JSON.stringify(value)}\n`;
}
