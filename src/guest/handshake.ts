/** The first words on every connection to a guest: is it the one we mean, and do we speak the same language? */
import { AgentisoError, StalledError } from '#lib/errors.ts';
import { GENERATION, type HelloParams, type HelloResult } from '#protocol/common.ts';
import type { CallOptions } from '#protocol/outgoing-calls.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';

export interface GuestIdentity {
  readonly id: string;
  readonly incarnation: string;
}

export interface ConnectOptions extends GuestIdentity {
  readonly signal?: AbortSignal;
}

/** A guest that runs must answer this at once; a machine that is just busy may need a moment. */
const HELLO_MS = 10_000;

interface Greeting {
  call(method: 'hello', params: HelloParams, options: CallOptions): Promise<HelloResult>;
  close(reason: ProtocolError): void;
}

/** Gives the guest's version. Hangs up when it rejects. StalledError ProtocolMismatch: guest and host are of different generations. */
export async function greet(channel: Greeting, { id, incarnation, signal }: ConnectOptions): Promise<string> {
  try {
    const options = { deadlineMs: HELLO_MS, ...(signal && { signal }) };
    const hello = await channel.call('hello', { generation: GENERATION, id, incarnation }, options).catch(rethrow);
    checkHello(hello, { id, incarnation });
    return hello.version;
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

export function rethrow(error: unknown): never {
  throw error instanceof ProtocolError ? toAgentisoError(error) : error;
}

export function toAgentisoError(error: ProtocolError): AgentisoError {
  return new AgentisoError(error.code, error.message, { cause: error });
}

/** The connection ended before the guest has answered: it may or may not have heard. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof AgentisoError && error.cause instanceof ProtocolError && error.cause.cause instanceof ProtocolError;
}
