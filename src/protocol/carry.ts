/** A connection as the two streams of a call, at the end that has the connection. */
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { CallContext } from './method.ts';
import { ProtocolError } from './protocol-error.ts';

/** Each direction ends by itself: a client that has said all may still wait for the answer. `what`: of the connection, for a complaint. */
export async function carry(connection: Duplex, { signal, up, down }: CallContext<'data', 'data'>, what: string): Promise<void> {
  try {
    await Promise.all([pipeline(up.data, connection, { signal }), pipeline(connection, down.data, { signal })]);
  } catch (error) {
    signal.throwIfAborted();
    throw new ProtocolError('Unavailable', `${what} broke: ${String(error)}`, error);
  } finally {
    connection.destroy();
  }
}
