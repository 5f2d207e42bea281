/** Commits that the host brings, onto a branch of a repository of the workspace. */

import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { GitImportParams, GitImportResult } from '#protocol/control.ts';
import type { Guest } from '../guest.ts';
import { lazy } from '../lazy-modules.ts';
import { resolveInWorkspace } from '../workspace-path.ts';
import { git, type Repository, resolveCommit, tryGit } from './git.ts';

const PREFIX = 'refs/agentiso/import';

export async function importGit(guest: Guest, params: GitImportParams, bundle: Readable, signal: AbortSignal): Promise<GitImportResult> {
  const directory = await resolveInWorkspace(guest.root, params.path);
  const repository: Repository = { guest, directory, env: {}, signal };
  const file = join(guest.stateDir, `import-${lazy.crypto.randomUUID()}.bundle`);
  try {
    await pipeline(bundle, createWriteStream(file, { mode: 0o600 }));
    // What is already there comes without a bundle.
    if ((await lazy.files.stat(file)).size > 0)
      await git(repository, ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', file, `+refs/*:${PREFIX}/*`]);
    return await move(repository, params);
  } finally {
    await lazy.files.rm(file, { force: true });
    const left = await git(repository, ['for-each-ref', '--format=delete %(refname)', PREFIX]);
    if (left !== '') await git(repository, ['update-ref', '--stdin'], left);
  }
}

async function move(repository: Repository, { branch, from, to }: GitImportParams): Promise<GitImportResult> {
  const ref = `refs/heads/${branch}`;
  const now = await resolveCommit(repository, ref);
  if (now !== from) return { state: 'moved', ...(now !== undefined && { now }) };
  const checkedOut = (await tryGit(repository, ['symbolic-ref', '--quiet', 'HEAD'])).stdout.toString().trim();
  if (checkedOut !== ref || from === undefined) {
    const { code } = await tryGit(repository, ['update-ref', ref, to, from ?? '']);
    return code === 0 ? { state: 'landed' } : { state: 'moved' };
  }
  const changed = await git(repository, ['status', '--porcelain=v1', '--untracked-files=no']);
  if (changed !== '') return { state: 'dirty', message: `${branch} is checked out there, with changes that are not committed` };
  const merged = await tryGit(repository, ['merge', '--ff-only', '--quiet', to]);
  return merged.code === 0 ? { state: 'landed' } : { state: 'dirty', message: merged.stderr.trim().slice(0, 500) };
}
