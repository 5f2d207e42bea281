/** One guest agent as a child of this daemon: started, watched, its end explained. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { type ProcessIdentity, readProcessIdentity } from '#lib/process-identity.ts';
import type { WorkspaceSpec } from '../driver.ts';
import type { WorkspacePaths } from './paths.ts';

export interface GuestProcess {
  readonly incarnation: string;
  readonly pid: number;
  /** undefined: it had ended before it could be looked at. */
  readonly identity: ProcessIdentity | undefined;
  isListening: boolean;
  /** How it ended. */
  exit: string | undefined;
}

export interface GuestStart {
  readonly workspace: WorkspaceSpec;
  readonly paths: WorkspacePaths;
  readonly guestAgentPath: string;
  readonly onChange: () => void;
}

export async function startGuest({ workspace, paths, guestAgentPath, onChange }: GuestStart): Promise<GuestProcess> {
  const { id, incarnation } = workspace;
  const args = [guestAgentPath, '--socket', paths.socket, '--id', id, '--incarnation', incarnation, '--workspace', paths.workspace];
  const log = await open(paths.log, 'a', 0o600);
  let child: ChildProcess;
  try {
    // Its own session: Ctrl-C at the daemon's terminal is not meant for the guests.
    child = spawn(process.execPath, args, { cwd: paths.workspace, detached: true, stdio: ['pipe', 'pipe', log.fd] });
    if (child.pid === undefined) throw (await once(child, 'error'))[0];
  } finally {
    await log.close();
  }
  const guest: GuestProcess = {
    incarnation,
    pid: child.pid,
    identity: readProcessIdentity(child.pid),
    isListening: false,
    exit: undefined,
  };
  child.once('exit', (code, signal) => {
    guest.exit = signal === null ? `exited with code ${code}` : `ended by ${signal}`;
    onChange();
  });
  // The guest says one line, and says it when it listens.
  child.stdout?.once('data', () => {
    guest.isListening = true;
    onChange();
  });
  releaseDaemon(child);
  return guest;
}

/** The open stdin is what keeps the guest alive; the guest must not keep the daemon alive in turn. */
function releaseDaemon(child: ChildProcess): void {
  for (const pipe of [child.stdin, child.stdout]) {
    pipe?.on('error', () => {});
    if (pipe !== null && 'unref' in pipe && typeof pipe.unref === 'function') pipe.unref();
  }
  child.unref();
}
