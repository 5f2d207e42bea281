/** Where the process driver keeps things: one directory per workspace. Pure. */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { StalledError } from '#lib/errors.ts';

export interface WorkspacePaths {
  readonly directory: string;
  /** The agent's files. */
  readonly workspace: string;
  readonly record: string;
  readonly log: string;
  readonly socket: string;
  /** Holds nothing but the socket; inside `directory` where the path is short enough. */
  readonly socketDirectory: string;
}

/** The kernel's limit for the path of a unix socket: 108 with the closing zero. */
const MAX_SOCKET_PATH_BYTES = 107;
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

export function isWorkspaceId(id: string): boolean {
  return ID.test(id);
}

export interface Places {
  readonly stateDir: string;
  /** For sockets, when stateDir is too long. */
  readonly tempDir: string;
}

export function workspacePaths(id: string, { stateDir, tempDir }: Places): WorkspacePaths {
  if (!isWorkspaceId(id))
    throw new StalledError('InvalidWorkspaceId', `a workspace id must match ${ID.source}, and this does not: ${id.slice(0, 200)}`);
  const directory = join(stateDir, id);
  const socket = socketPath(directory, tempDir);
  return {
    directory,
    workspace: join(directory, 'workspace'),
    record: join(directory, 'record.json'),
    log: join(directory, 'guest.log'),
    socket,
    socketDirectory: dirname(socket),
  };
}

function socketPath(directory: string, tempDir: string): string {
  const near = join(directory, 'run', 'guest.sock');
  if (Buffer.byteLength(near) <= MAX_SOCKET_PATH_BYTES) return near;
  const short = createHash('sha256').update(directory).digest('hex').slice(0, 20);
  const far = join(tempDir, `agentiso-${short}`, 'guest.sock');
  if (Buffer.byteLength(far) <= MAX_SOCKET_PATH_BYTES) return far;
  throw new StalledError('SocketPathTooLong', `no socket path of at most ${MAX_SOCKET_PATH_BYTES} bytes below ${directory} or ${tempDir}`, {
    hint: 'choose a shorter state directory or a shorter TMPDIR',
  });
}
