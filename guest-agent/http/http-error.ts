/** What a request that cannot be served is told. Pure. */
import { ProtocolError, type ProtocolErrorCode } from '#protocol/protocol-error.ts';

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
  readonly retryable: boolean;
  readonly hint: string;
}

const MEANINGS: Readonly<Record<ProtocolErrorCode, Meaning>> = {
  Invalid: { status: 400, retryable: false, hint: 'correct the request' },
  TooLarge: { status: 413, retryable: false, hint: 'send less at once' },
  Forbidden: { status: 403, retryable: false, hint: 'this is not for you to do' },
  NotFound: { status: 404, retryable: false, hint: 'check the name' },
  Conflict: { status: 409, retryable: true, hint: 'look at the present state first' },
  AlreadyExists: { status: 409, retryable: false, hint: 'look at the present state first' },
  QuotaExceeded: { status: 422, retryable: false, hint: 'ask for less, or wait until something else is done' },
  DepthExceeded: { status: 422, retryable: false, hint: 'do it in a team that exists' },
  InboxFull: { status: 503, retryable: true, hint: 'try again when the recipient has read some of its messages' },
  FenceLost: { status: 409, retryable: false, hint: 'somebody else has taken over' },
  RateLimited: { status: 429, retryable: true, hint: 'try again a little later' },
  Unauthenticated: { status: 401, retryable: false, hint: 'send Authorization: Bearer with a token' },
  Unavailable: { status: 503, retryable: true, hint: 'try again a little later' },
  Timeout: { status: 504, retryable: true, hint: 'try again a little later; it may have been done all the same' },
  IoError: { status: 500, retryable: false, hint: "see the agent's log" },
  Internal: { status: 500, retryable: false, hint: "see the agent's log" },
};

export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const code = error instanceof ProtocolError ? error.code : 'Internal';
  const { status, retryable, hint } = MEANINGS[code];
  // What the error itself says; where it is silent its code speaks.
  const { hint: ownHint, retryAfterMs, field } = error instanceof ProtocolError ? error.details : {};
  return new HttpError(status, {
    code,
    message: error instanceof Error ? error.message : String(error),
    retryable,
    hint: ownHint ?? hint,
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
    ...(field !== undefined && { field }),
  });
}
