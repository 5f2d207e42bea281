/** The messages a frame may hold. */
import type { WireError } from './protocol-error.ts';

export interface Request {
  readonly id: number;
  /** A method name; another word is answered with Invalid. */
  readonly type: string;
  readonly params: unknown;
  readonly deadlineMs?: number;
}

export type Answer = { readonly id: number; readonly result: unknown } | { readonly id: number; readonly error: WireError };

/** Gives up the request with this id. */
export interface Cancel {
  readonly id: number;
  readonly type: 'cancel';
}

/** Which end of the call sent a frame of a stream: both sides count their calls from 1. */
export type Side = 'caller' | 'handler';

interface OfStream {
  readonly id: number;
  readonly side: Side;
  readonly stream: string;
}

export interface Data extends OfStream {
  readonly type: 'data';
  /** Base64. */
  readonly data: string;
}

export interface Eof extends OfStream {
  readonly type: 'eof';
}

/** The reader has room for so many more bytes. */
export interface Credit extends OfStream {
  readonly type: 'credit';
  readonly bytes: number;
}

export type StreamMessage = Data | Eof | Credit;

/** The last message before a side hangs up: why. */
export interface Close {
  readonly type: 'close';
  readonly error: WireError;
}

export type Message = Request | Answer | Cancel | StreamMessage | Close;
