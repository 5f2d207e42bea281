/** The contract of the host's connections to its guests: one session per running workspace. */
import type { AttemptKey, ControlCall, ControlMethodName, ControlParams, ControlResult } from '#protocol/control.ts';
import type { CallOptions } from '#protocol/outgoing-calls.ts';
import type { Envelope, HeartbeatParams } from '#protocol/relay.ts';

export interface SessionState {
  readonly isControlOpen: boolean;
  readonly isRelayOpen: boolean;
  /** Why it is not connected, for people. */
  readonly problem?: string;
  /** The same as what was thrown: a StalledError does not go away by itself. */
  readonly error?: unknown;
  /** By awakeMs(); when the session began for one that has sent none. */
  readonly lastHeartbeatMs: number;
  readonly heartbeat?: HeartbeatParams;
  /** The guest's version. */
  readonly version?: string;
}

export interface Session {
  readonly id: string;
  readonly incarnation: string;
  readonly state: SessionState;
  /** Rejects with AgentisoError: Unavailable while the guest is not connected. */
  call<M extends ControlMethodName>(method: M, params: ControlParams<M>, options?: CallOptions): Promise<ControlResult<M>>;
  /** A call with streams. */
  open<M extends ControlMethodName>(method: M, params: ControlParams<M>, options?: CallOptions): ControlCall<M>;
  /** Says on the relay that there is mail, and what the last of it says; never waits, never fails. `jsons`: of these, where they are at hand. */
  hint(nextSeq: number, messages?: readonly Envelope[], jsons?: readonly string[]): void;
  /**
   * Says, with the next hint or soon, that these results are accepted; for guests that tell results with their heartbeats. Resolves when the
   * guest has settled them.
   */
  accepted(keys: readonly AttemptKey[]): Promise<void>;
}

export interface Sessions {
  /** Idempotent by id and incarnation; a session of another incarnation is closed first. */
  ensure(id: string, incarnation: string): Session;
  get(id: string): Session | undefined;
  close(id: string, reason: string): void;
  /** Connected, lost, first heartbeat, results waiting: the agent is worth a look. */
  onChange(listener: (id: string) => void): () => void;
  closeAll(): void;
}
