/** Refusals of the API with the tool that helps: the API's own hints name commands, which a model has not. */
import { AgentisoError, type ErrorCode, InvalidError } from '#lib/errors.ts';

export type Hints = Readonly<Partial<Record<ErrorCode, string>>>;

export async function withHint<T>(work: Promise<T>, hints: Hints): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw hinted(error, hints);
  }
}

export function hinted(error: unknown, hints: Hints): unknown {
  const hint = error instanceof AgentisoError ? hints[error.code] : undefined;
  if (!(error instanceof AgentisoError) || hint === undefined) return error;
  const { code, message, reason, retryAfterMs } = error;
  const details = { hint, reason, cause: error.cause ?? error, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  return error instanceof InvalidError ? new InvalidError(message, error.fields, details) : new AgentisoError(code, message, details);
}

/** A field of the input that is wrong, in the words of the API. */
export function wrongField(field: string, message: string, hint?: string): InvalidError {
  const problem = { path: field, segments: [field], kind: 'Invalid', message } as const;
  return new InvalidError(`${field}: ${message}`, [problem], hint === undefined ? {} : { hint });
}
