/** What a server refused, as the error that the store in this process would have thrown. Pure. */
import {
  AlreadyExistsError,
  ConflictError,
  ExpiredError,
  type FieldProblem,
  InvalidError,
  NotFoundError,
  UnavailableError,
} from '#lib/errors.ts';
import { StatusError } from './status-error.ts';

export function toClientError(error: unknown): unknown {
  if (!(error instanceof StatusError)) return error;
  const { message, code, status } = error;
  const causes = status.details?.causes ?? [];
  const details = { reason: error.reason, cause: error };
  switch (code) {
    case 'NotFound':
      return new NotFoundError(message, details);
    case 'AlreadyExists':
      return new AlreadyExistsError(message, details);
    case 'Conflict':
      return new ConflictError(
        message,
        causes.some(({ reason }) => reason === FIELD_CONFLICT) ? { ...details, reason: FIELD_CONFLICT } : details,
      );
    case 'Expired':
      return new ExpiredError(message, details);
    case 'Unavailable':
      return new UnavailableError(message, details);
    case 'Invalid':
      return new InvalidError(message, causes.map(toProblem), details);
    default:
      return error;
  }
}

const FIELD_CONFLICT = 'FieldManagerConflict';

const KINDS: Readonly<Record<string, FieldProblem['kind']>> = {
  FieldValueRequired: 'Required',
  FieldValueInvalid: 'Invalid',
  FieldValueNotSupported: 'NotSupported',
  FieldValueTypeInvalid: 'TypeInvalid',
  FieldValueDuplicate: 'Duplicate',
  FieldValueForbidden: 'Forbidden',
  FieldValueTooLong: 'TooLong',
};

function toProblem({ reason = '', message = '', field = '' }: { reason?: string; message?: string; field?: string }): FieldProblem {
  return { path: field, segments: segmentsOf(field), kind: KINDS[reason] ?? 'Invalid', message };
}

/** `spec.roles[0].count` */
function segmentsOf(path: string): (string | number)[] {
  return (path.match(/[^.[\]]+/g) ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}
