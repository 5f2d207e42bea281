/** Kubernetes' Status: how every failure, and some successes, are answered. */
import { STATUS_REASONS } from '#api/status-reasons.ts';

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly metadata: Readonly<Record<string, string>>;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** A failure that knows how it is answered. */
export class StatusError extends Error {
  readonly status: Status;

  constructor(status: Status, cause?: unknown) {
    super(status.message ?? status.reason ?? 'failed', { cause });
    this.name = 'StatusError';
    this.status = status;
  }
}

export interface FailureExtras {
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

export function failure(code: number, message: string, { reason, details, metadata = {}, cause }: FailureExtras = {}): StatusError {
  const named = reason ?? STATUS_REASONS[code];
  return new StatusError(
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata,
      status: 'Failure',
      message,
      ...(named ? { reason: named } : {}),
      ...(details ? { details } : {}),
      code,
    },
    cause,
  );
}

export function success(details: StatusDetails): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

export const badRequest = (message: string) => failure(400, message);

export function notAcceptable(accepted = 'application/json, application/yaml, application/vnd.kubernetes.protobuf') {
  return failure(406, `only the following media types are accepted: ${accepted}`);
}
