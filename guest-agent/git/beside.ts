/** An index of our own beside the agent's: what is put into it, the agent never sees. */
import { join } from 'node:path';
import { lazy } from '../lazy-modules.ts';
import type { Repository } from './git.ts';

/** Not in the repository: what a killed git leaves there would stand in everybody's way. */
export function temporaryIndex({ guest }: Repository): string {
  return join(guest.stateDir, `capture-${lazy.crypto.randomUUID()}.index`);
}

export async function removeIndex(index: string): Promise<void> {
  await Promise.all([index, `${index}.lock`].map((path) => lazy.files.rm(path, { force: true })));
}

export function withEnv(repository: Repository, env: Readonly<Record<string, string>>): Repository {
  return { ...repository, env: { ...repository.env, ...env } };
}
