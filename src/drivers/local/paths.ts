/** Where a driver on this machine keeps things: one folder per workspace. Pure. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { StalledError } from '#lib/errors.ts';
import type { GuestPort } from '../driver.ts';

export interface WorkspacePaths {
  readonly directory: string;
  /** The agent's files, where they do not begin as a layer over a base. */
  readonly workspace: string;
  readonly record: string;
  readonly log: string;
  /** The guest's durable memory. */
  readonly state: string;
  /** Holds the sockets and nothing that lasts; inside `directory` where the path is short enough. */
  readonly run: string;
}

/** The kernel's limit for the path of a unix socket: 108 with the closing zero. */
const MAX_SOCKET_PATH_BYTES = 107;
/** The longest name that anybody puts into a run directory. */
const LONGEST_SOCKET_NAME = 'control.sock';
const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;

export function isWorkspaceId(id: string): boolean {
  return ID.test(id);
}

export interface Places {
  readonly stateDir: string;
  /** For sockets, when stateDir is too long. Absent: where the guest sees its run directory, the path is short in any case. */
  readonly tempDir?: string;
}

export function workspacePaths(id: string, { stateDir, tempDir }: Places): WorkspacePaths {
  if (!isWorkspaceId(id))
    throw new StalledError('InvalidWorkspaceId', `a workspace id must match ${ID.source}, and this does not: ${id.slice(0, 200)}`);
  const directory = join(stateDir, id);
  return {
    directory,
    workspace: join(directory, 'workspace'),
    record: join(directory, 'record.json'),
    log: join(directory, 'guest.log'),
    state: join(directory, 'state'),
    run: runPath(directory, tempDir),
  };
}

export function socketIn(run: string, port: GuestPort): string {
  return join(run, `${port}.sock`);
}

function runPath(directory: string, tempDir: string | undefined): string {
  const near = join(directory, 'run');
  if (tempDir === undefined || isShortEnough(near)) return near;
  const short = createHash('sha256').update(directory).digest('hex').slice(0, 20);
  const far = join(tempDir, `agentiso-${short}`);
  if (isShortEnough(far)) return far;
  throw new StalledError('SocketPathTooLong', `no socket path of at most ${MAX_SOCKET_PATH_BYTES} bytes below ${directory} or ${tempDir}`, {
    hint: 'choose a shorter state directory or a shorter TMPDIR',
  });
}

function isShortEnough(run: string): boolean {
  return Buffer.byteLength(join(run, LONGEST_SOCKET_NAME)) <= MAX_SOCKET_PATH_BYTES;
}
