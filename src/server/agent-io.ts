/**
 * What the API asks of running agents, beyond what the store knows of them: their output, commands inside, ports, usage. The composition
 * says how. Everything fails with an AgentisoError: Unavailable when the agent does not run or cannot be reached, NotFound for a log of an
 * earlier run that is not there, Invalid for what the agent cannot do.
 */
import type { Duplex, Readable, Writable } from 'node:stream';

export interface AgentReference {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export interface LogQuery {
  /** Only so many of the last lines; 0 for none. */
  readonly tailLines?: number;
  /** Only what was written since, in milliseconds since 1970. */
  readonly sinceMs?: number;
  readonly limitBytes?: number;
  /** Each line begins with its time, as RFC 3339 with a fraction, and a space. */
  readonly timestamps: boolean;
  /** Then whatever is written, until the signal aborts or the agent is gone. */
  readonly follow: boolean;
  /** Of the run before this one. */
  readonly previous?: boolean;
}

export interface ExecOptions {
  /** At least the program. */
  readonly argv: readonly string[];
  /** A terminal of this size; then there is no separate stderr. */
  readonly tty?: { readonly rows: number; readonly cols: number };
  /** False: the command reads nothing from the start. */
  readonly hasStdin: boolean;
}

/** Output of something that runs: it waits until it is read, and both streams end once `ended` is settled, whatever happens. */
export interface AttachedOutput {
  readonly stdout: Readable;
  readonly stderr: Readable;
  resize(rows: number, cols: number): void;
  /** Rejects when it cannot be known how it ended. */
  readonly ended: Promise<{ readonly exitCode: number }>;
}

export interface RunningCommand extends AttachedOutput {
  readonly stdin: Writable;
}

export interface AgentUsage {
  readonly cpuMillicores: number;
  readonly memoryBytes: number;
}

/** A signal that aborts ends what was asked for: the client has gone. */
export interface AgentIo {
  logs(agent: AgentReference, query: LogQuery, signal: AbortSignal): Promise<Readable>;
  exec(agent: AgentReference, options: ExecOptions, signal: AbortSignal): Promise<RunningCommand>;
  /** What the agent's own process says from now on. */
  attach(agent: AgentReference, signal: AbortSignal): Promise<AttachedOutput>;
  /** One connection to a TCP port inside, each end half-closed on its own. */
  portForward(agent: AgentReference, port: number, signal: AbortSignal): Promise<Duplex>;
  /** By uid; agents that do not run are left out. */
  usage(agents: readonly AgentReference[]): Promise<ReadonlyMap<string, AgentUsage>>;
}
