/** Unix sockets in deep folders: the kernel takes paths of at most 107 bytes, whatever the file system allows. */
import { closeSync, existsSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';

const MAX_SOCKET_PATH_BYTES = 107;

export interface SocketPath {
  readonly path: string;
  /** To be called when nobody binds or connects by this path any more. */
  release(): void;
}

/** A path that binds and connects to the same socket and is short enough: by way of the open folder where it has to be. */
export function socketPath(path: string): SocketPath {
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES ? { path, release: () => {} } : throughFolder(path);
}

/**
 * By way of the open folder in any case: whoever closes a socket removes what is at its path, and by then that may be the socket of
 * somebody else, in a folder that took the place of this one.
 */
export function pinnedSocketPath(path: string): SocketPath {
  return existsSync('/proc/self/fd') ? throughFolder(path) : socketPath(path);
}

function throughFolder(path: string): SocketPath {
  const folder = openSync(dirname(path), 'r');
  return { path: `/proc/self/fd/${folder}/${basename(path)}`, release: () => closeSync(folder) };
}
