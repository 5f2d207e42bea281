/** The host's side of the control connection: handshake, then typed calls. Results are parsed by the protocol before anybody sees them. */
import type { Duplex } from 'node:stream';
import type { AgentisoError } from '#lib/errors.ts';
import { MAX_WAIT_SECONDS } from '#protocol/agent-verbs.ts';
import { Channel } from '#protocol/channel.ts';
import {
  type ControlCall,
  type ControlMethodName,
  type ControlParams,
  type ControlResult,
  control,
  EXEC_KILL_GRACE_MS,
} from '#protocol/control.ts';
import { hasStreams } from '#protocol/method.ts';
import type { CallOptions } from '#protocol/outgoing-calls.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';
import { type ConnectOptions, greet, rethrow, toAgentisoError } from './handshake.ts';

export interface GuestClient {
  /** The guest agent's version. */
  readonly version: string;
  /** Resolves once, with why the connection ended. */
  readonly closed: Promise<AgentisoError>;
  /** Rejects with AgentisoError, or with the signal's reason. Without `deadlineMs` each method has its own. */
  call<M extends ControlMethodName>(method: M, params: ControlParams<M>, options?: CallOptions): Promise<ControlResult<M>>;
  /** A call with its streams; without `deadlineMs` it takes as long as it takes. */
  open<M extends ControlMethodName>(method: M, params: ControlParams<M>, options?: CallOptions): ControlCall<M>;
  close(reason: string): void;
}

/** Takes over the stream, also when it rejects. StalledError ProtocolMismatch: guest and host are of different generations. */
export async function connectGuest(stream: Duplex, options: ConnectOptions): Promise<GuestClient> {
  const channel = new Channel(stream, { outgoing: control });
  const version = await greet(channel, options);
  return {
    version,
    closed: channel.closed.then(toAgentisoError),
    call: (method, params, callOptions = {}) =>
      channel.call(method, params, { ...deadline(method, params), ...callOptions }).catch(rethrow),
    open(method, params, callOptions = {}) {
      try {
        const opened = channel.open(method, params, callOptions);
        return { ...opened, result: opened.result.catch(rethrow) } as typeof opened;
      } catch (error) {
        rethrow(error);
      }
    },
    close: (reason) => channel.close(new ProtocolError('Unavailable', reason)),
  };
}

const BIND_MS = 10_000;
/** An emulated processor on a busy machine takes its time. */
const SET_UP_MS = 60_000;

/** Gives a member of the warm pool its identity; the handshake follows on another connection. */
export async function bindGuest(stream: Duplex, params: ControlParams<'bind'>, signal: AbortSignal): Promise<void> {
  const channel = new Channel(stream, { outgoing: control });
  try {
    await channel.call('bind', params, { signal, deadlineMs: params.machine === undefined ? BIND_MS : SET_UP_MS }).catch(rethrow);
  } finally {
    channel.close(new ProtocolError('Unavailable', 'bound'));
  }
}

/** Gives a machine that waits for its identity its disks; bind follows on another connection. */
export async function prepareGuest(stream: Duplex, params: ControlParams<'prepare'>, signal: AbortSignal): Promise<void> {
  const channel = new Channel(stream, { outgoing: control });
  try {
    await channel.call('prepare', params, { signal, deadlineMs: SET_UP_MS }).catch(rethrow);
  } finally {
    channel.close(new ProtocolError('Unavailable', 'prepared'));
  }
}

/** The answer to an exec that is over its time comes after the grace its processes get. */
function deadline<M extends ControlMethodName>(method: M, params: ControlParams<M>): CallOptions {
  const marginMs = 5_000;
  if (method === 'exec') return { deadlineMs: (params as ControlParams<'exec'>).timeoutMs + EXEC_KILL_GRACE_MS + marginMs };
  // Some tools wait.
  if (method === 'callTool') return { deadlineMs: MAX_WAIT_SECONDS * 1_000 + marginMs };
  if (hasStreams(control[method])) return { deadlineMs: 60_000 };
  return { deadlineMs: method === 'ping' ? 5_000 : 10_000 };
}
