/** Which of the four messages a decoded frame is. */
import type { Answer, Cancel, Close, Request } from './messages.ts';
import { PROTOCOL_ERROR_CODES, ProtocolError, type WireError } from './protocol-error.ts';
import { type Fields, fieldOf, integerOf, stringOf, toFields } from './shape.ts';

export type Envelope =
  | { readonly kind: 'request'; readonly request: Request }
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'cancel'; readonly cancel: Cancel }
  | { readonly kind: 'close'; readonly close: Close };

const ID = { min: 1, max: Number.MAX_SAFE_INTEGER };
const DEADLINE_MS = { min: 1, max: 86_400_000 };

export function parseEnvelope(value: unknown): Envelope {
  const fields = toFields(value, 'a message');
  const type = fieldOf(fields, 'type');
  if (type === undefined) return { kind: 'answer', answer: parseAnswer(fields) };
  if (type === 'close') return { kind: 'close', close: { type, error: parseWireError(fieldOf(fields, 'error')) } };
  const id = integerOf(fields, 'id', ID);
  if (type === 'cancel') return { kind: 'cancel', cancel: { id, type } };
  return { kind: 'request', request: parseRequest(id, fields) };
}

function parseRequest(id: number, fields: Fields): Request {
  const request = { id, type: stringOf(fields, 'type'), params: fieldOf(fields, 'params') };
  return fieldOf(fields, 'deadlineMs') === undefined ? request : { ...request, deadlineMs: integerOf(fields, 'deadlineMs', DEADLINE_MS) };
}

function parseAnswer(fields: Fields): Answer {
  const id = integerOf(fields, 'id', ID);
  const result = fieldOf(fields, 'result');
  const error = fieldOf(fields, 'error');
  if ((result === undefined) === (error === undefined)) throw new ProtocolError('Invalid', 'an answer needs either result or error');
  return error === undefined ? { id, result } : { id, error: parseWireError(error) };
}

/** An unknown code comes from a newer peer: its message is still worth reading. */
function parseWireError(value: unknown): WireError {
  const fields = toFields(value, 'error');
  const code = PROTOCOL_ERROR_CODES.find((known) => known === fieldOf(fields, 'code')) ?? 'Internal';
  return { code, message: stringOf(fields, 'message') };
}
