/**
 * Processes of a workspace that its guest can no longer end: they left their process group, or the guest was killed.
 * Known by AGENTISO_WORKSPACE, which the guest gives to every command and which they inherit to all they start.
 */
import { readFile } from 'node:fs/promises';
import { type ProcessIdentity, readProcessIdentity } from '#lib/process-identity.ts';
import { listPids } from './processes.ts';

export async function findLeftovers(workspace: string): Promise<ProcessIdentity[]> {
  const found = await Promise.all(listPids().map((pid) => identifyLeftover(pid, workspace)));
  return found.filter((identity) => identity !== undefined);
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
