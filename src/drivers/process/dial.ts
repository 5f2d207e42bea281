/** Opens the guest's control socket. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { WaitingError } from '#lib/errors.ts';

export async function dialGuest(socketPath: string, signal: AbortSignal): Promise<Socket> {
  const socket = connect(socketPath);
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') throw new WaitingError('GuestNotListening', 'the guest is not listening yet', 100);
    throw error;
  }
}
