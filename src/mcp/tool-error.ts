/** Whatever went wrong in a call as what a model is told: a code, a cause and what to do next. Never a stack, nor a path of this machine. Pure. */
import { StatusError } from '#client/status-error.ts';
import { AgentisoError, InvalidError } from '#lib/errors.ts';
import { ProtocolError, toDetails } from '#protocol/protocol-error.ts';
import type { ToolError } from '#protocol/tool-surface.ts';

const MAX_MESSAGE_CHARS = 4_096;

/** Undefined: nobody foresaw it. */
export function toToolError(error: unknown, homes: readonly string[] = []): ToolError | undefined {
  if (!(error instanceof AgentisoError) && !(error instanceof ProtocolError)) return undefined;
  const { hint, retryAfterMs, field } = detailsOf(error);
  const clean = (text: string) => withoutPaths(text, homes).slice(0, MAX_MESSAGE_CHARS);
  return {
    code: error.code,
    message: clean(error.message),
    ...(hint !== undefined && { hint: clean(hint) }),
    ...(field !== undefined && { field }),
    ...(retryAfterMs !== undefined && { retry_after_ms: retryAfterMs }),
  };
}

function detailsOf(error: AgentisoError | ProtocolError) {
  if (error instanceof ProtocolError) return error.details;
  // What the API refused is the cause of what the client throws.
  const status = statusOf(error);
  const seconds = status?.details?.retryAfterSeconds;
  const field = fieldOf(error) ?? status?.details?.causes?.find((cause) => cause.field)?.field;
  return {
    ...(seconds !== undefined && { retryAfterMs: seconds * 1_000 }),
    ...(field !== undefined && { field }),
    ...toDetails(error),
  };
}

function statusOf(error: AgentisoError) {
  const found = error instanceof StatusError ? error : error.cause;
  return found instanceof StatusError ? found.status : undefined;
}

function fieldOf(error: AgentisoError): string | undefined {
  const path = error instanceof InvalidError ? error.fields[0]?.path : undefined;
  return path === '' ? undefined : path;
}

/** Where this daemon keeps its things is nobody's business. */
function withoutPaths(text: string, homes: readonly string[]): string {
  return homes.reduce((rest, home) => rest.replaceAll(home, 'HOME'), text);
}
