/**
 * Processes of a workspace that its guest can no longer end: they left their process group, or the guest was killed.
 * Known by AGENTISO_WORKSPACE, which the guest gives to every command and which they inherit to all they start.
 */
import { readdir, readFile } from 'node:fs/promises';
import { type ProcessIdentity, readProcessIdentity, signalProcess } from '#lib/process-identity.ts';

export async function findLeftovers(workspace: string): Promise<ProcessIdentity[]> {
  const pids = (await readdir('/proc')).filter((name) => /^[1-9][0-9]*$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => identifyLeftover(pid, workspace)));
  return found.filter((identity) => identity !== undefined);
}

/** True when there was something to kill: it takes a moment to be gone. */
export async function killLeftovers(workspace: string): Promise<boolean> {
  const leftovers = await findLeftovers(workspace);
  return leftovers.map((identity) => signalProcess(identity, 'SIGKILL')).includes(true);
}

/** The identity is read before the environment: a pid that changes hands in between no longer matches it. */
async function identifyLeftover(pid: number, workspace: string): Promise<ProcessIdentity | undefined> {
  try {
    const identity = readProcessIdentity(pid);
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    return environment.split('\0').includes(`AGENTISO_WORKSPACE=${workspace}`) ? identity : undefined;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // Gone meanwhile, or of another user and therefore not started from here.
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(code)) return undefined;
    throw error;
  }
}
