/** What a method is: how its params and result are read, and which streams it has beside them. */
import type { Readable, Writable } from 'node:stream';
import type { Parser } from './shape.ts';

export interface Method<P = unknown, R = unknown, Up extends string = string, Down extends string = string> {
  readonly params: Parser<P>;
  readonly result: Parser<R>;
  /** Streams from the caller to the handler. */
  readonly up: readonly Up[];
  /** Streams from the handler to the caller. */
  readonly down: readonly Down[];
}

// biome-ignore lint/suspicious/noExplicitAny: a table holds methods of every type; each use has its own again.
export type MethodTable = Readonly<Record<string, Method<any, any>>>;

export type NameIn<T extends MethodTable> = keyof T & string;
export type ParamsOf<T extends MethodTable, M extends NameIn<T>> = T[M] extends Method<infer P, unknown> ? P : never;
export type ResultOf<T extends MethodTable, M extends NameIn<T>> = T[M] extends Method<infer _P, infer R> ? R : never;
type UpOf<T extends MethodTable, M extends NameIn<T>> = T[M]['up'][number];
type DownOf<T extends MethodTable, M extends NameIn<T>> = T[M]['down'][number];

/** Without streams. */
export function method<P, R>(params: Parser<P>, result: Parser<R>): Method<P, R, never, never> {
  return { params, result, up: [], down: [] };
}

export function streaming<P, R, const Up extends string = never, const Down extends string = never>(
  params: Parser<P>,
  result: Parser<R>,
  streams: { readonly up?: readonly Up[]; readonly down?: readonly Down[] },
): Method<P, R, Up, Down> {
  return { params, result, up: streams.up ?? [], down: streams.down ?? [] };
}

export function hasStreams({ up, down }: Method): boolean {
  return up.length + down.length > 0;
}

export interface CallContext<Up extends string = never, Down extends string = never> {
  /** Aborted by cancel or the request's deadline; a lost connection aborts only calls with streams, others go on. */
  readonly signal: AbortSignal;
  readonly up: Readonly<Record<Up, Readable>>;
  readonly down: Readonly<Record<Down, Writable>>;
}

export type HandlerOf<T extends MethodTable, M extends NameIn<T>> = (
  params: ParamsOf<T, M>,
  context: CallContext<UpOf<T, M>, DownOf<T, M>>,
) => Promise<ResultOf<T, M>>;

/** One handler per method: a missing or mistyped one does not compile. */
export type HandlersOf<T extends MethodTable> = { readonly [M in NameIn<T>]: HandlerOf<T, M> };

/** A call that is under way, with its streams. */
export interface OpenCall<R = unknown, Up extends string = string, Down extends string = string> {
  readonly result: Promise<R>;
  readonly up: Readonly<Record<Up, Writable>>;
  readonly down: Readonly<Record<Down, Readable>>;
}

export type OpenCallOf<T extends MethodTable, M extends NameIn<T>> = OpenCall<ResultOf<T, M>, UpOf<T, M>, DownOf<T, M>>;
