/** From the fields of a request to a command that can be started: the same rules for exec, execStream and jobs. */
import { ProtocolError } from '#protocol/protocol-error.ts';
import { checkEnv } from '../command-env.ts';
import { toFileError } from '../files/file-error.ts';
import type { Guest } from '../guest.ts';
import type { CommandStart } from '../started-command.ts';
import { resolveInWorkspace } from '../workspace-path.ts';

export interface CommandFields {
  readonly command?: string;
  readonly argv?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function toCommand(guest: Guest, fields: CommandFields): Promise<Pick<CommandStart, 'argv' | 'cwd' | 'env' | 'groups'>> {
  const { command, argv, cwd, env = {} } = fields;
  checkEnv(env);
  return {
    argv: argv ?? ['/bin/sh', '-c', command ?? ''],
    cwd: await resolveInWorkspace(guest.root, cwd ?? guest.root).catch((error: unknown) => {
      // The file system would name the place where the workspace really lies.
      throw toFileError(error, cwd ?? 'the workspace');
    }),
    env: { ...guest.env(), ...env },
    groups: guest.groups,
  };
}

export function checkNotStopping({ groups }: Guest): void {
  if (groups.isClosed) throw new ProtocolError('Unavailable', 'the guest is stopping');
}

/** What a command that cannot even be started says: it is a result, because the request was in order. */
export function startFailure(error: unknown): string {
  return `exec failed: ${startProblem(error)}`;
}

/** In words for those that people cause; a folder that is not there has the same code and another system call. */
function startProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, syscall = '', path = 'the command', message } = error as NodeJS.ErrnoException;
  if (!syscall.startsWith('spawn')) return message;
  if (code === 'ENOENT') return `${path}: not found, neither as a path nor in the PATH of the agent`;
  if (code === 'EACCES') return `${path}: not allowed, or not a program`;
  if (code === 'ENOTDIR') return 'what it should run in is not a directory';
  return message;
}
