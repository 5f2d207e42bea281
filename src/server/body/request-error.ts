/** What is wrong with a request itself, in the terms of the answer: the server turns it into a Status. */

export interface RequestErrorCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface RequestErrorDetails {
  readonly causes?: readonly RequestErrorCause[] | undefined;
  readonly cause?: unknown;
}

const REASONS = {
  400: 'BadRequest',
  406: 'NotAcceptable',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
} as const;

export class RequestError extends Error {
  readonly status: keyof typeof REASONS;
  readonly reason: string;
  readonly causes: readonly RequestErrorCause[] | undefined;

  constructor(status: keyof typeof REASONS, message: string, { causes, cause }: RequestErrorDetails = {}) {
    super(message, { cause });
    this.name = 'RequestError';
    this.status = status;
    this.reason = REASONS[status];
    this.causes = causes;
  }
}
