/** What the API or a check of manifests refused, with the code and the next step that a model can act on. Pure. */
import { StatusError } from '#client/status-error.ts';
import { AgentisoError, type ErrorCode } from '#lib/errors.ts';
import { ProtocolError, type ProtocolErrorCode } from '#protocol/protocol-error.ts';

/** Said at the end of a complaint where a code of its own fits better than Invalid. */
const SAID = /\((QuotaExceeded|DepthExceeded)\)$/;
const NOT_FOUND = 'FieldValueNotFound';

/** The same error with a better code, and with a hint where it has none. */
export function toRefusal(error: unknown, hint?: string): unknown {
  if (!(error instanceof AgentisoError)) return error;
  const code = error instanceof StatusError ? codeOf(error) : error.code;
  const better = error.hint ?? (isMissingNamespace(error) ? NAMESPACE_HINT : hint);
  if (code === error.code && better === error.hint) return error;
  return new AgentisoError(code, error.message, { ...(better === undefined ? {} : { hint: better }), reason: error.reason, cause: error });
}

const NAMESPACE_HINT = 'make the namespace first: apply a document with apiVersion: v1, kind: Namespace and metadata.name';

function isMissingNamespace(error: AgentisoError): boolean {
  return error instanceof StatusError && error.code === 'NotFound' && error.status.details?.kind === 'namespaces';
}

function codeOf({ code, status }: StatusError): ErrorCode {
  const causes = status.details?.causes ?? [];
  const said = causes.map(({ message = '' }) => SAID.exec(message)?.[1]).find((word) => word !== undefined);
  if (said !== undefined) return said as ErrorCode;
  return causes.length > 0 && causes.every(({ reason }) => reason === NOT_FOUND) ? 'NotFound' : code;
}

/** `manifest:3:7: spec.roles[0].cout: …` */
const PLACED = /^\S+:\d+:\d+: (?:unknown field "([^"]+)"|([A-Za-z][\w.[\]/-]*): )/;

const NO_ROOM_HINT = 'nothing was changed; ask for less, or make room first: team_status says what is used';

/** Nothing was written: each line says where and what would be accepted. */
export function manifestRefusal(problems: readonly string[], hint: string): ProtocolError {
  const said = problems.map((line) => SAID.exec(line)?.[1]).find((word) => word !== undefined);
  const [field] = problems.flatMap((line) => fieldIn(line) ?? []);
  const details = { hint: said === undefined ? hint : NO_ROOM_HINT, ...(field === undefined ? {} : { field }) };
  return new ProtocolError((said ?? 'Invalid') as ProtocolErrorCode, problems.join('\n'), undefined, details);
}

function fieldIn(line: string): string | undefined {
  const [, unknown, path = unknown] = PLACED.exec(line) ?? [];
  return path;
}
