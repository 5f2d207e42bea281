/** The contract of the log of calls: who asked for what, how it ended and how long it took. It holds names and codes, never content. */

export interface AuditEntry {
  /** Uid or name of an agent with its team, or a user. */
  readonly who: string;
  readonly mode: 'orchestrator' | 'agent';
  readonly tool: string;
  /** `team/sprint`; absent where the call names none, or could not be read. */
  readonly resource?: string;
  /** `ok`, or the code of the refusal. */
  readonly outcome: string;
  readonly durationMs: number;
}

export interface AuditLog {
  /** Written soon, in order; a disk that refuses is reported once in the log of the daemon and never fails a call. */
  record(entry: AuditEntry): void;
}
