/** Which kind of message a decoded frame is. */
import type { Answer, Cancel, Close, Request, StreamMessage } from './messages.ts';
import { PROTOCOL_ERROR_CODES, ProtocolError, toDetails, type WireError } from './protocol-error.ts';
import { fieldOf, integer, oneOf, text, toFields } from './shape.ts';

export type Envelope =
  | { readonly kind: 'request'; readonly request: Request }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'cancel'; readonly cancel: Cancel }
  | { readonly kind: 'stream'; readonly stream: StreamMessage }
  | { readonly kind: 'close'; readonly close: Close };

type Fields = ReturnType<typeof toFields>;

const ID = integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const DEADLINE_MS = integer({ min: 1, max: 86_400_000 });
const BYTES = integer({ min: 1, max: 0x7fff_ffff });
const SIDE = oneOf('caller', 'handler');

export function parseEnvelope(value: unknown): Envelope {
  const fields = toFields(value, 'a message');
  const type = fieldOf(fields, 'type');
  if (type === undefined) return { kind: 'answer', answer: parseAnswer(fields) };
  if (type === 'close') return { kind: 'close', close: { type, error: parseWireError(fieldOf(fields, 'error')) } };
  const id = ID(fieldOf(fields, 'id'), 'id');
  if (type === 'cancel') return { kind: 'cancel', cancel: { id, type } };
  if (type === 'data' || type === 'eof' || type === 'credit') return { kind: 'stream', stream: parseStream(id, type, fields) };
  return { kind: 'request', request: parseRequest(id, fields) };
}

function parseRequest(id: number, fields: Fields): Request {
  const type = text(fieldOf(fields, 'type'), 'type');
  const params = fieldOf(fields, 'params');
  const deadlineMs = fieldOf(fields, 'deadlineMs');
  return deadlineMs === undefined ? { id, type, params } : { id, type, params, deadlineMs: DEADLINE_MS(deadlineMs, 'deadlineMs') };
}

function parseStream(id: number, type: StreamMessage['type'], fields: Fields): StreamMessage {
  const of = { id, side: SIDE(fieldOf(fields, 'side'), 'side'), stream: text(fieldOf(fields, 'stream'), 'stream') };
  switch (type) {
    case 'data':
      return { ...of, type, data: text(fieldOf(fields, 'data'), 'data') };
    case 'eof':
      return { ...of, type };
    case 'credit':
      return { ...of, type, bytes: BYTES(fieldOf(fields, 'bytes'), 'bytes') };
  }
}

function parseAnswer(fields: Fields): Answer {
  const id = ID(fieldOf(fields, 'id'), 'id');
  const result = fieldOf(fields, 'result');
  const error = fieldOf(fields, 'error');
  if ((result === undefined) === (error === undefined)) throw new ProtocolError('Invalid', 'an answer needs either result or error');
  return error === undefined ? { id, result } : { id, error: parseWireError(error) };
}

/** An unknown code comes from a newer peer: its message is still worth reading. */
export function parseWireError(value: unknown): WireError {
  const fields = toFields(value, 'error');
  const code = PROTOCOL_ERROR_CODES.find((known) => known === fieldOf(fields, 'code')) ?? 'Internal';
  return { code, message: text(fieldOf(fields, 'message'), 'message'), ...toDetails(fields) };
}
