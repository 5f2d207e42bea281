/** A server's refusal: the Status it sent, as an error whose text is what kubectl prints. */
import { STATUS_REASONS } from '#api/status-reasons.ts';
import { AgentisoError, type ErrorCode } from '#lib/errors.ts';
import { isObject } from '#lib/json.ts';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface Status {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly causes?: readonly StatusCause[];
    readonly retryAfterSeconds?: number;
  };
}

export class StatusError extends AgentisoError {
  readonly status: Status;
  /** For people: `Error from server (NotFound): teams.agentiso.dev "x" not found`. */
  readonly text: string;

  constructor(status: Status, cause?: unknown) {
    super(codeOf(status), status.message ?? `the server answered ${status.code}`, {
      ...(status.reason ? { reason: status.reason } : {}),
      cause,
    });
    this.status = status;
    this.text = textOf(status, this.message);
  }
}

/** Any answer that is not a success; a body that is no Status still makes an error that says what came. */
export function statusErrorOf(httpStatus: number, body: string): StatusError {
  const parsed = parse(body);
  if (isObject(parsed) && parsed['kind'] === 'Status') return new StatusError({ code: httpStatus, ...parsed });
  const said = body.trim().slice(0, 500) || `the server answered ${httpStatus} without a word`;
  const message = httpStatus === 404 ? 'the server could not find the requested resource' : said;
  return new StatusError({ code: httpStatus, reason: STATUS_REASONS[httpStatus] ?? 'Unknown', message });
}

export function isNotFound(error: unknown): boolean {
  return error instanceof StatusError && error.code === 'NotFound';
}

const CODES: Readonly<Record<string, ErrorCode>> = {
  Unauthorized: 'Unauthenticated',
  Forbidden: 'Forbidden',
  NotFound: 'NotFound',
  AlreadyExists: 'AlreadyExists',
  Conflict: 'Conflict',
  Expired: 'Expired',
  Gone: 'Expired',
  RequestEntityTooLarge: 'TooLarge',
  TooManyRequests: 'RateLimited',
  ServiceUnavailable: 'Unavailable',
  Timeout: 'Timeout',
  InternalError: 'Internal',
};

function codeOf({ reason = '', code = 0 }: Status): ErrorCode {
  return CODES[reason] ?? (code >= 500 ? 'Internal' : 'Invalid');
}

function textOf(status: Status, message: string): string {
  if (status.reason === 'Unauthorized') return `error: You must be logged in to the server (${message})`;
  if (status.reason === 'Invalid') return invalidText(status, message);
  return `Error from server${status.reason ? ` (${status.reason})` : ''}: ${message}`;
}

function invalidText({ details }: Status, message: string): string {
  const causes = [...new Set(details?.causes?.map(({ field, message: said }) => `${field}: ${withoutDump(said)}`) ?? [])];
  const isNamed = details?.kind || details?.name;
  const head = isNamed ? `The ${details?.kind ?? ''} "${details?.name ?? ''}" is invalid` : 'The request is invalid';
  if (causes.length === 0) return isNamed && !message ? head : `${head}: ${message}`;
  return causes.length === 1 ? `${head}: ${causes[0]}` : [`${head}: `, ...causes.map((cause) => `* ${cause}`)].join('\n');
}

/** A whole object before the reason is no help to a person: `Invalid value: "{…}": strict decoding error: unknown field "spec.x"`. */
function withoutDump(said = ''): string {
  return said.replace(/^Invalid value: "\{(?:[^"\\]|\\.)*\}": (?=.)/s, (dump) => (dump.length > MAX_DUMP ? '' : dump));
}

const MAX_DUMP = 200;

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
