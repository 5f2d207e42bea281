/** What host and guest say to each other: the one table of methods, and the messages that carry them. */
import type { WireError } from './protocol-error.ts';

/** Raised when old and new can no longer talk; `hello` stays readable to every generation. */
export const GENERATION = 1;

export interface HelloParams {
  readonly generation: number;
  /** The workspace the host believes it has reached. */
  readonly id: string;
  readonly incarnation: string;
}

export interface HelloResult extends HelloParams {
  readonly version: string;
}

export type NoFields = Readonly<Record<string, never>>;

export interface PingResult {
  readonly version: string;
  readonly generation: number;
  readonly uptimeMs: number;
}

interface ExecCommon {
  /** Below the workspace root; `/workspace/...` means the root wherever it really lies. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** `command` is run by /bin/sh -c, `argv` as it stands. */
export type ExecParams = ExecCommon & ({ readonly command: string } | { readonly argv: readonly string[] });

export interface ExecResult {
  /** -1: did not start, timed out or was cancelled; 128 + n: ended by signal n. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly timedOut: boolean;
  readonly elapsedMs: number;
}

/** An exec may not ask for more. */
export const MAX_EXEC_TIMEOUT_MS = 3_600_000;

/** Between SIGTERM and SIGKILL of an exec that is over its time: part of how long its answer may take. */
export const EXEC_KILL_GRACE_MS = 5_000;

export interface Methods {
  hello: { params: HelloParams; result: HelloResult };
  ping: { params: NoFields; result: PingResult };
  exec: { params: ExecParams; result: ExecResult };
  shutdown: { params: NoFields; result: NoFields };
}

export type MethodName = keyof Methods;
export type Params<M extends MethodName> = Methods[M]['params'];
export type Result<M extends MethodName> = Methods[M]['result'];

/** The generation that brought each method. */
export const since: Readonly<Record<MethodName, number>> = { hello: 1, ping: 1, exec: 1, shutdown: 1 };

export function isMethodName(type: string): type is MethodName {
  return Object.hasOwn(since, type);
}

export interface CallContext {
  /** Aborted by Cancel or the request's deadline, never by a lost connection. */
  readonly signal: AbortSignal;
}

export type Handler<M extends MethodName> = (params: Params<M>, context: CallContext) => Promise<Result<M>>;

export type Handlers = { readonly [M in MethodName]: Handler<M> };

export interface Request {
  readonly id: number;
  /** A method name; another word is answered with Invalid. */
  readonly type: string;
  readonly params: unknown;
  readonly deadlineMs?: number;
}

export type Answer = { readonly id: number; readonly result: unknown } | { readonly id: number; readonly error: WireError };

/** Gives up the request with this id. */
export interface Cancel {
  readonly id: number;
  readonly type: 'cancel';
}

/** The last message before a side hangs up: why. */
export interface Close {
  readonly type: 'close';
  readonly error: WireError;
}

export type Message = Request | Answer | Cancel | Close;
