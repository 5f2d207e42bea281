/** Opens one of the guest's sockets. */
import { once } from 'node:events';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { AgentisoError, WaitingError } from '#lib/errors.ts';

/** Names a file without opening it. Node has no word for it. */
const O_PATH = 0o10000000;

/**
 * The guest can write where its sockets are and may have put a link to somebody else's there: the file is held first, looked at, and only
 * then connected to. That way the length of its path does not matter either.
 */
export async function dialGuest(socketPath: string, signal: AbortSignal, { allowHalfOpen = false } = {}): Promise<Socket> {
  const held = hold(socketPath);
  const socket = connect({ path: `/proc/self/fd/${held}`, allowHalfOpen });
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw isNotListening(error) ? notListening() : error;
  } finally {
    closeSync(held);
  }
}

function hold(socketPath: string): number {
  let held: number;
  try {
    held = openSync(socketPath, O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    throw isNotListening(error) ? notListening() : error;
  }
  if (fstatSync(held).isSocket()) return held;
  closeSync(held);
  throw new AgentisoError('Forbidden', `${socketPath} is not a socket`, { reason: 'NotASocket' });
}

function isNotListening(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ECONNREFUSED';
}

function notListening(): WaitingError {
  return new WaitingError('GuestNotListening', 'the guest is not listening yet', 100);
}
