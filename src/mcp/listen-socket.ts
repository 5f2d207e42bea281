/** The private door for MCP: a unix socket that only this user can open. Nothing is loaded before somebody comes. */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { UnavailableError } from '#lib/errors.ts';
import { pinnedSocketPath } from '#lib/socket-path.ts';

export interface PrivateDoor {
  /** Connections are cut: whoever holds one is told by that. */
  close(): Promise<void>;
}

/** The daemon's lock says that nobody else can be listening there: what is at the path was left behind. */
export async function listenSocket(path: string, onConnection: (socket: Socket) => void): Promise<PrivateDoor> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    onConnection(socket);
  });
  rmSync(path, { force: true });
  const pinned = pinnedSocketPath(path);
  try {
    await listening(server, pinned.path);
  } catch (error) {
    pinned.release();
    throw new UnavailableError(`cannot listen on ${path}: ${(error as Error).message}`, { cause: error });
  }
  chmodSync(path, 0o600);
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      pinned.release();
    },
  };
}

/** Never open to others, not even for the moment before its mode is set. */
function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const umask = process.umask(0o177);
    try {
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(umask);
    }
  });
}
