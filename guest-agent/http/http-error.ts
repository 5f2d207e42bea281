/** What a request that cannot be served is told. Pure. */
import { isRetryable, ProtocolError, type ProtocolErrorCode } from '#protocol/protocol-error.ts';

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
  readonly hint: string;
  readonly retry_after_ms?: number;
  readonly field?: string;
}

export class HttpError extends Error {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    body: Omit<ErrorBody, 'retryable'> & { readonly retryable?: boolean },
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(body.message);
    this.name = 'HttpError';
    this.status = status;
    this.body = { retryable: false, ...body };
    this.headers = headers;
  }
}

interface Meaning {
  readonly status: number;
  readonly hint: string;
}

const MEANINGS: Readonly<Record<ProtocolErrorCode, Meaning>> = {
  Invalid: { status: 400, hint: 'correct the request' },
  TooLarge: { status: 413, hint: 'send less at once' },
  Forbidden: { status: 403, hint: 'this is not for you to do' },
  NotFound: { status: 404, hint: 'check the name' },
  Conflict: { status: 409, hint: 'look at the present state first' },
  AlreadyExists: { status: 409, hint: 'look at the present state first' },
  QuotaExceeded: { status: 422, hint: 'ask for less, or wait until something else is done' },
  DepthExceeded: { status: 422, hint: 'do it in a team that exists' },
  InboxFull: { status: 503, hint: 'try again when the recipient has read some of its messages' },
  FenceLost: { status: 409, hint: 'somebody else has taken over' },
  RateLimited: { status: 429, hint: 'try again a little later' },
  Unauthenticated: { status: 401, hint: 'send Authorization: Bearer with a token' },
  Unavailable: { status: 503, hint: 'try again a little later' },
  Timeout: { status: 504, hint: 'try again a little later; it may have been done all the same' },
  IoError: { status: 500, hint: "see the agent's log" },
  Internal: { status: 500, hint: "see the agent's log" },
};

export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const code = error instanceof ProtocolError ? error.code : 'Internal';
  const { status, hint } = MEANINGS[code];
  // What the error itself says; where it is silent its code speaks.
  const { hint: ownHint, retryAfterMs, field } = error instanceof ProtocolError ? error.details : {};
  return new HttpError(status, {
    code,
    message: error instanceof Error ? error.message : String(error),
    retryable: isRetryable(code),
    hint: ownHint ?? hint,
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
    ...(field !== undefined && { field }),
  });
}
