/** Why a run came to nothing, by a word that the host acts on. */

export type FailureCode =
  /** It could not be started, three times. */
  | 'BackendFailed'
  /** Its program is not where it should be. */
  | 'BackendMissing'
  /** Without the tools of the team it may not start. */
  | 'McpUnavailable'
  /** It ended, or stopped talking sense, in the middle. */
  | 'AgentCrashed'
  | 'BadOutput'
  /** It says that it is done, and nothing has happened. */
  | 'NoEvidence'
  | 'NoProgress'
  | 'RateLimited'
  /** The model will not do it. */
  | 'Refused'
  | 'Cancelled'
  /** What it answered to a prompt was an error. */
  | 'AgentError';

export class RunFailure extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export function toFailure(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new RunFailure(
    (error as { reason?: unknown } | null)?.reason === 'BackendMissing' ? 'BackendMissing' : 'AgentError',
    message,
    error,
  );
}
