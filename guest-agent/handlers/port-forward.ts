/** portForward: one TCP connection to something that listens on loopback inside the workspace. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { carry } from '#protocol/carry.ts';
import type { ControlHandler } from '#protocol/control.ts';
import { ProtocolError } from '#protocol/protocol-error.ts';

const LOOPBACK = ['127.0.0.1', '::1'];

export function portForwardHandler(): ControlHandler<'portForward'> {
  return async ({ port }, context) => {
    const socket = await connectTo(port, context.signal);
    await carry(socket, context, `the connection to port ${port} in the workspace`);
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
