/** The wire's own error type: what crosses the connection, and why a connection was closed. */

export const PROTOCOL_ERROR_CODES = [
  'Invalid',
  'TooLarge',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'InboxFull',
  'FenceLost',
  'RateLimited',
  'Unauthenticated',
  'QuotaExceeded',
  'DepthExceeded',
  'Unavailable',
  'Timeout',
  'IoError',
  'Internal',
] as const;

export type ProtocolErrorCode = (typeof PROTOCOL_ERROR_CODES)[number];

export interface WireError {
  readonly code: ProtocolErrorCode;
  readonly message: string;
}

const MAX_MESSAGE_CHARS = 4096;

export class ProtocolError extends Error {
  readonly code: ProtocolErrorCode;

  constructor(code: ProtocolErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ProtocolError';
    this.code = code;
  }
}

/** Bounded, so that an error always fits into a frame. */
export function toWireError(error: unknown): WireError {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE_CHARS);
  return { code: codeOf(error), message };
}

/** Errors of either side's own may carry one of the codes, too. */
function codeOf(error: unknown): ProtocolErrorCode {
  const given = error instanceof Error && 'code' in error ? error.code : undefined;
  return PROTOCOL_ERROR_CODES.find((code) => code === given) ?? 'Internal';
}

export function toProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const { code, message } = toWireError(error);
  return new ProtocolError(code, message, error);
}
