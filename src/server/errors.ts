/** Whatever went wrong as a Status, in the words Kubernetes has for it. Pure. */
import { FieldConflictError } from '#api/fields/conflict.ts';
import { TypedPatchError } from '#api/fields/typed-error.ts';
import { AgentisoError, type ErrorCode, type FieldProblem, InvalidError, isCode, messageOf } from '#lib/errors.ts';
import { PreconditionError } from '#store/rules.ts';
import { RequestError } from './body/request-error.ts';
import { qualifiedName, type Resource } from './resources.ts';
import { failure, type StatusCause, type StatusDetails, StatusError } from './status.ts';

/** What the request was about; messages name it. */
export interface Subject {
  readonly resource: Resource;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly verb: string;
}

export function toStatusError(error: unknown, subject: Subject | undefined): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof RequestError) {
    const details = error.causes ? { details: { ...detailsOf(subject), causes: error.causes } } : {};
    return failure(error.status, error.message, { reason: error.reason, ...details, cause: error });
  }
  if (error instanceof FieldConflictError) return fieldConflict(error);
  if (error instanceof TypedPatchError) return failure(500, error.message, { reason: '', cause: error });
  if (error instanceof InvalidError) return invalid(error, subject);
  if (error instanceof AgentisoError) return coded(error, subject);
  return failure(500, `Internal error occurred: ${messageOf(error)}`, {
    details: { causes: [{ message: messageOf(error) }] },
    cause: error,
  });
}

/** Without a reason it is the client's mistake, whatever its number says; an agent that cannot be reached is nobody's. */
export function isOurFailure({ status: { code, reason }, cause }: StatusError): boolean {
  return code === 500 && Boolean(reason) && !isCode(cause, 'Unavailable');
}

export interface FieldSubject {
  readonly resource: Resource;
  readonly name: string;
  /** Kubernetes says the kind or the resource, depending on how deep inside it noticed. */
  readonly kind: string;
}

export function invalidField({ resource: { group }, name, kind }: FieldSubject, field: string, message: string): StatusError {
  const quoted = group === '' ? kind : `${kind}.${group}`;
  return failure(422, `${quoted} ${JSON.stringify(name)} is invalid: ${field}: ${message}`, {
    details: { name, ...(group ? { group } : {}), kind, causes: [{ reason: 'FieldValueInvalid', message, field }] },
  });
}

function detailsOf(subject: Subject | undefined): StatusDetails {
  if (!subject) return {};
  const { resource, name } = subject;
  return { ...(name ? { name } : {}), ...(resource.group ? { group: resource.group } : {}), kind: resource.plural };
}

function fieldConflict(error: FieldConflictError): StatusError {
  const causes = error.causes.map(({ message, field }) => ({ reason: 'FieldManagerConflict', message, field }));
  return failure(409, error.message, { details: { causes }, cause: error });
}

const CAUSES: Readonly<Record<FieldProblem['kind'], string>> = {
  Required: 'FieldValueRequired',
  Invalid: 'FieldValueInvalid',
  NotFound: 'FieldValueNotFound',
  NotSupported: 'FieldValueNotSupported',
  TypeInvalid: 'FieldValueTypeInvalid',
  Unknown: 'FieldValueInvalid',
  Duplicate: 'FieldValueDuplicate',
  Forbidden: 'FieldValueForbidden',
  TooLong: 'FieldValueTooLong',
  TooMany: 'FieldValueTooMany',
};

/** How Kubernetes names the object as a whole. */
const NO_FIELD = '<nil>';
const RULES_LEFT_OUT: StatusCause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  field: NO_FIELD,
};

/** Fields that are wrong are 422 and named one by one; anything else that is invalid is the request itself. */
function invalid(error: InvalidError, subject: Subject | undefined): StatusError {
  if (error.fields.length === 0 || !subject) return failure(400, error.message, { cause: error });
  const { resource, name = '' } = subject;
  const causes: StatusCause[] = error.fields.map(({ kind, message, path }) => ({
    reason: CAUSES[kind],
    message,
    field: path || NO_FIELD,
  }));
  if (error.isPartial) causes.push(RULES_LEFT_OUT);
  const list = causes.map(({ field, message }) => `${field}: ${message}`);
  // An event is what it is stored as.
  const group = resource.kind === 'Event' ? '' : resource.group;
  const kind = group === '' ? resource.kind : `${resource.kind}.${group}`;
  const message = `${kind} ${JSON.stringify(name)} is invalid: ${list.length === 1 ? list[0] : `[${list.join(', ')}]`}`;
  const details = { ...detailsOf({ ...subject, resource: { ...resource, group } }), kind: resource.kind, causes };
  return failure(422, message, { details, cause: error });
}

const CODES: Readonly<Partial<Record<ErrorCode, number>>> = {
  Unauthenticated: 401,
  Forbidden: 403,
  FenceLost: 409,
  Expired: 410,
  TooLarge: 413,
  QuotaExceeded: 422,
  DepthExceeded: 422,
  RateLimited: 429,
  InboxFull: 503,
  Unavailable: 503,
  Timeout: 504,
};

function coded(error: AgentisoError, subject: Subject | undefined): StatusError {
  const details = detailsOf(subject);
  const quoted = subject ? `${qualifiedName(subject.resource)} ${JSON.stringify(subject.name ?? '')}` : '';
  switch (error.code) {
    case 'NotFound':
      return failure(404, `${quoted} not found`, { details, cause: error });
    case 'AlreadyExists':
      return failure(409, `${error.reason === 'BeingDeleted' ? 'object is being deleted: ' : ''}${quoted} already exists`, {
        reason: 'AlreadyExists',
        details,
        cause: error,
      });
    case 'Conflict':
      return conflict(error, subject);
    default: {
      const code = CODES[error.code] ?? 500;
      const retry = code === 503 || code === 429 ? { retryAfterSeconds: 1 } : {};
      return failure(code, error.message, { details: { ...details, ...retry }, cause: error });
    }
  }
}

/** A refusal of a desk, in its own words: its code is kept, and the hint, for whoever asked. */
export function codedStatus(error: AgentisoError): StatusError {
  const code = DESK_CODES[error.code] ?? CODES[error.code] ?? 500;
  const retry = code === 503 || code === 429 ? { retryAfterSeconds: 1 } : {};
  const hint = error.hint === undefined ? {} : { message: error.hint };
  const reason = error.code === 'AlreadyExists' ? { reason: 'AlreadyExists' } : {};
  return failure(code, error.message, { ...reason, details: { causes: [{ reason: error.code, ...hint }], ...retry }, cause: error });
}

const DESK_CODES: Readonly<Partial<Record<ErrorCode, number>>> = { Invalid: 400, NotFound: 404, AlreadyExists: 409, Conflict: 409 };

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

function conflict(error: AgentisoError, subject: Subject | undefined): StatusError {
  const details = detailsOf(subject);
  if (!subject || !(error instanceof PreconditionError)) return failure(409, error.message, { details, cause: error });
  const { resource, name = '', verb } = subject;
  const isDelete = verb === 'delete' || verb === 'deletecollection';
  const quoted = isDelete ? `${resource.kind}${resource.group && `.${resource.group}`}` : qualifiedName(resource);
  const text = isDelete ? unmet(error) : error.mismatch.field === 'uid' ? storageText(error, subject) : MODIFIED;
  return failure(409, `Operation cannot be fulfilled on ${quoted} ${JSON.stringify(name)}: ${text}`, {
    details: isDelete ? { ...details, kind: resource.kind } : details,
    cause: error,
  });
}

function unmet({ mismatch: { field, asked, actual } }: PreconditionError): string {
  return field === 'uid'
    ? `the UID in the precondition (${asked}) does not match the UID in record (${actual}). The object might have been deleted and then recreated`
    : `the ResourceVersion in the precondition (${asked}) does not match the ResourceVersion in record (${actual}). The object might have been modified`;
}

function storageText({ mismatch: { asked, actual } }: PreconditionError, { resource, name, namespace }: Subject): string {
  const key = ['', resource.group, resource.plural, namespace, name].filter((part, at) => part || at === 0).join('/');
  const met = `Precondition failed: UID in precondition: ${asked}, UID in object meta: ${actual}`;
  return `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${met}`;
}
