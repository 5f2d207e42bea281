/** portForward: one TCP connection to something that listens on loopback inside the workspace. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { ControlHandler } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';

const LOOPBACK = ['127.0.0.1', '::1'];

export function portForwardHandler(): ControlHandler<'portForward'> {
  return async ({ port }, { signal, up, down }) => {
    const socket = await connectTo(port, signal);
    try {
      // Each direction ends by itself: a client that has said all may still wait for the answer.
      await Promise.all([pipeline(up.data, socket, { signal }), pipeline(socket, down.data, { signal })]);
    } catch (error) {
      signal.throwIfAborted();
      throw new ProtocolError('Unavailable', `the connection to port ${port} in the workspace broke: ${String(error)}`, error);
    } finally {
      socket.destroy();
    }
    return {};
  };
}

async function connectTo(port: number, signal: AbortSignal): Promise<Socket> {
  for (const host of LOOPBACK) {
    const socket = connect({ host, port, allowHalfOpen: true });
    try {
      await once(socket, 'connect', { signal });
      return socket;
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      if (!isAbsent(error)) throw new ProtocolError('Unavailable', `port ${port} in the workspace: ${String(error)}`, error);
    }
  }
  throw new ProtocolError('Unavailable', `nothing listens on port ${port} in the workspace`);
}

/** Without IPv6 there is no ::1 either. */
function isAbsent(error: unknown): boolean {
  return ['ECONNREFUSED', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'ENETUNREACH'].includes((error as NodeJS.ErrnoException).code ?? '');
}
