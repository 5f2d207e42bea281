/**
 * The closed set of error codes and the classes that carry them.
 * Three classes steer a reconcile: StalledError (a person must act), WaitingError (a time must pass), anything else (back-off).
 */

export type ErrorCode =
  | 'Invalid'
  | 'Unauthenticated'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'FenceLost'
  | 'Expired'
  | 'TooLarge'
  | 'QuotaExceeded'
  | 'DepthExceeded'
  | 'RateLimited'
  | 'InboxFull'
  | 'Unavailable'
  | 'Timeout'
  | 'IoError'
  | 'Internal';

export interface ErrorDetails {
  /** PascalCase word for conditions and events; the code when absent. */
  readonly reason?: string;
  /** What the person or program should do next. */
  readonly hint?: string;
  /** The same call may pass after this time. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

export class AgentisoError extends Error {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly hint: string | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.name = new.target.name;
    this.code = code;
    this.reason = details.reason ?? code;
    this.hint = details.hint;
    this.retryAfterMs = details.retryAfterMs;
  }
}

/** Trying again cannot help until a person changes something: the runtime does not retry. */
export class StalledError extends AgentisoError {
  constructor(reason: string, message: string, details: ErrorDetails = {}) {
    super('Invalid', message, { ...details, reason });
  }
}

/** Not a failure: the world needs time. The runtime looks again after `afterMs`. */
export class WaitingError extends AgentisoError {
  readonly afterMs: number;

  constructor(reason: string, message: string, afterMs: number) {
    super('Unavailable', message, { reason });
    this.afterMs = afterMs;
  }
}

export class NotFoundError extends AgentisoError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('NotFound', message, details);
  }
}

export class AlreadyExistsError extends AgentisoError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('AlreadyExists', message, details);
  }
}

export class ConflictError extends AgentisoError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('Conflict', message, details);
  }
}

/** The asked version is no longer, or not yet, in the retained history: list again. */
export class ExpiredError extends AgentisoError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('Expired', message, details);
  }
}

/** The store cannot take writes right now (disk full, closing); the same call may pass later. */
export class UnavailableError extends AgentisoError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('Unavailable', message, details);
  }
}

/** One thing wrong with one field. `path` is what kubectl prints: `spec.roles[0].count`. */
export interface FieldProblem {
  readonly path: string;
  readonly kind:
    | 'Required'
    | 'Invalid'
    | 'NotFound'
    | 'NotSupported'
    | 'TypeInvalid'
    | 'Unknown'
    | 'Duplicate'
    | 'Forbidden'
    | 'TooLong'
    | 'TooMany';
  readonly message: string;
  /** Segments of the path, to find the line in a YAML document. */
  readonly segments: readonly (string | number)[];
}

export interface InvalidDetails extends ErrorDetails {
  /** Rules were left out because what they look at has the wrong shape: there may be more to complain about. */
  readonly isPartial?: boolean;
}

export class InvalidError extends AgentisoError {
  readonly fields: readonly FieldProblem[];
  readonly isPartial: boolean;

  constructor(message: string, fields: readonly FieldProblem[] = [], details: InvalidDetails = {}) {
    super('Invalid', message, details);
    this.fields = fields;
    this.isPartial = details.isPartial ?? false;
  }
}

export function isCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof AgentisoError && error.code === code;
}

/** For reads and deletes of what may already be gone. */
export async function ignoreNotFound<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isCode(error, 'NotFound')) return undefined;
    throw error;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
