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

const RETRYABLE: ReadonlySet<string> = new Set<ProtocolErrorCode>(['Conflict', 'RateLimited', 'InboxFull', 'Unavailable', 'Timeout']);

/** Whether the same call, unchanged, may pass later. */
export function isRetryable(code: string): boolean {
  return RETRYABLE.has(code);
}

/** What helps whoever is refused. */
export interface ErrorDetails {
  readonly hint?: string;
  readonly retryAfterMs?: number;
  /** Of what was asked: the part that is wrong. */
  readonly field?: string;
}

export interface WireError extends ErrorDetails {
  readonly code: ProtocolErrorCode;
  readonly message: string;
}

const MAX_MESSAGE_CHARS = 4096;

export class ProtocolError extends Error {
  readonly code: ProtocolErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ProtocolErrorCode, message: string, cause?: unknown, details: ErrorDetails = {}) {
    super(message, { cause });
    this.name = 'ProtocolError';
    this.code = code;
    this.details = details;
  }
}

/** Bounded, so that an error always fits into a frame. */
export function toWireError(error: unknown): WireError {
  const message = (error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE_CHARS);
  return { code: codeOf(error), message, ...toDetails(error instanceof ProtocolError ? error.details : error) };
}

const MAX_RETRY_MS = 86_400_000;

/** Only what has the right shape: a newer peer, or an error of another kind, may have anything there. */
export function toDetails(value: unknown): ErrorDetails {
  if (typeof value !== 'object' || value === null) return {};
  const { hint, retryAfterMs, field } = value as Record<string, unknown>;
  const isDelay = typeof retryAfterMs === 'number' && retryAfterMs >= 0 && retryAfterMs <= MAX_RETRY_MS;
  return {
    ...(typeof hint === 'string' && { hint: hint.slice(0, MAX_MESSAGE_CHARS) }),
    ...(isDelay && { retryAfterMs }),
    ...(typeof field === 'string' && { field: field.slice(0, MAX_MESSAGE_CHARS) }),
  };
}

/** Errors of either side's own may carry one of the codes, too. */
function codeOf(error: unknown): ProtocolErrorCode {
  const given = error instanceof Error && 'code' in error ? error.code : undefined;
  return PROTOCOL_ERROR_CODES.find((code) => code === given) ?? 'Internal';
}

export function toProtocolError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  const { code, message, ...details } = toWireError(error);
  return new ProtocolError(code, message, error, details);
}
