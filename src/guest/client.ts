/** The host's side of the control channel: handshake, then typed calls. Results are parsed by the protocol before anybody sees them. */
import type { Duplex } from 'node:stream';
import { AgentisoError, StalledError } from '#lib/errors.ts';
import { Channel } from '#protocol/channel.ts';
import { EXEC_KILL_GRACE_MS, GENERATION, type HelloResult, type MethodName, type Params, type Result } from '#protocol/messages.ts';
import type { CallOptions } from '#protocol/outgoing-calls.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';

export interface GuestClient {
  /** The guest agent's version. */
  readonly version: string;
  /** Resolves once, with why the connection ended. */
  readonly closed: Promise<AgentisoError>;
  /** Rejects with AgentisoError, or with the signal's reason. Without `deadlineMs` each method has its own. */
  call<M extends MethodName>(method: M, params: Params<M>, options?: CallOptions): Promise<Result<M>>;
  close(reason: string): void;
}

export interface GuestIdentity {
  readonly id: string;
  readonly incarnation: string;
}

export interface ConnectOptions extends GuestIdentity {
  readonly signal?: AbortSignal;
}

/** Takes over the stream, also when it rejects. StalledError ProtocolMismatch: guest and host are of different generations. */
export async function connectGuest(stream: Duplex, { id, incarnation, signal }: ConnectOptions): Promise<GuestClient> {
  const channel = new Channel(stream);
  const call: GuestClient['call'] = (method, params, options = {}) =>
    channel.call(method, params, { deadlineMs: deadlineMs(method, params), ...options }).catch(rethrow);
  try {
    const hello = await call('hello', { generation: GENERATION, id, incarnation }, signal === undefined ? {} : { signal });
    checkHello(hello, { id, incarnation });
    return {
      version: hello.version,
      closed: channel.closed.then(toAgentisoError),
      call,
      close: (reason) => channel.close(new ProtocolError('Unavailable', reason)),
    };
  } catch (error) {
    channel.close(new ProtocolError('Unavailable', 'handshake failed'));
    throw error;
  }
}

function checkHello(hello: HelloResult, expected: GuestIdentity): void {
  if (hello.generation !== GENERATION) {
    throw new StalledError('ProtocolMismatch', `the guest speaks generation ${hello.generation}, this host ${GENERATION}`, {
      hint: 'restart the agent so that it gets the guest agent of this version',
    });
  }
  if (hello.id !== expected.id || hello.incarnation !== expected.incarnation) {
    throw new AgentisoError('Conflict', `the guest says it is ${hello.id} incarnation ${hello.incarnation}`, { reason: 'WrongGuest' });
  }
}

/** The answer to an exec that is over its time comes after the grace its processes get. */
function deadlineMs<M extends MethodName>(method: M, params: Params<M>): number {
  const marginMs = 5_000;
  if (method === 'exec') return (params as Params<'exec'>).timeoutMs + EXEC_KILL_GRACE_MS + marginMs;
  return method === 'ping' ? 5_000 : 10_000;
}

function rethrow(error: unknown): never {
  throw error instanceof ProtocolError ? toAgentisoError(error) : error;
}

function toAgentisoError(error: ProtocolError): AgentisoError {
  return new AgentisoError(error.code, error.message, { cause: error });
}
