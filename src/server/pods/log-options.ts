/** What a request for a log asks for, checked the way Kubernetes checks PodLogOptions. Pure. */
import type { LogQuery } from '../agent-io.ts';
import { flag, integer, text } from '../params.ts';
import { badRequest, failure, type StatusCause } from '../status.ts';

export function logQuery(query: URLSearchParams, name: string, nowMs: number): LogQuery {
  const tailLines = integer(query, 'tailLines');
  const limitBytes = integer(query, 'limitBytes');
  const sinceSeconds = integer(query, 'sinceSeconds');
  const sinceTime = text(query, 'sinceTime');
  const problems = [
    ...atLeast('tailLines', tailLines, 0),
    ...atLeast('limitBytes', limitBytes, 1),
    ...atLeast('sinceSeconds', sinceSeconds, 1),
    ...(sinceSeconds !== undefined && sinceTime !== undefined ? [BOTH] : []),
  ];
  if (problems.length > 0) throw invalid(name, problems);
  const sinceMs = sinceTime === undefined ? sinceSeconds && nowMs - sinceSeconds * 1_000 : timeOf(sinceTime);
  return {
    timestamps: flag(query, 'timestamps'),
    follow: flag(query, 'follow'),
    ...(flag(query, 'previous') ? { previous: true } : {}),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
    ...(sinceMs === undefined ? {} : { sinceMs }),
  };
}

function timeOf(sinceTime: string): number {
  const ms = /^\d{4}-\d\d-\d\dT/.test(sinceTime) ? Date.parse(sinceTime) : Number.NaN;
  if (Number.isNaN(ms)) throw badRequest(`sinceTime: ${JSON.stringify(sinceTime)} is no time; RFC 3339 is: 2006-01-02T15:04:05Z`);
  return ms;
}

const BOTH: StatusCause = {
  reason: 'FieldValueForbidden',
  message: 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
  field: '',
};

function atLeast(field: string, value: number | undefined, least: number): StatusCause[] {
  if (value === undefined || value >= least) return [];
  const message = `Invalid value: ${value}: must be greater than ${least === 0 ? 'or equal to 0' : '0'}`;
  return [{ reason: 'FieldValueInvalid', message, field }];
}

function invalid(name: string, causes: readonly StatusCause[]) {
  const list = causes.map(({ field, message }) => (field ? `${field}: ${message}` : message));
  const problems = list.length === 1 ? list[0] : `[${list.join(', ')}]`;
  return failure(422, `PodLogOptions ${JSON.stringify(name)} is invalid: ${problems}`, {
    details: { name, kind: 'PodLogOptions', causes },
  });
}
