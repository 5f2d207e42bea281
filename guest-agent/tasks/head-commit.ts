/** The commit that holds the work of a task, where the workspace is a git repository. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Guest } from '../guest.ts';
import { runCommand } from '../run-command.ts';

const TIMEOUT_MS = 10_000;

/** Undefined: no repository, nothing committed yet, or no git. The folder is named, or git would look in those above as well. */
export async function headCommit(
  { root, env, groups }: Pick<Guest, 'root' | 'env' | 'groups'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const repository = join(root, '.git');
  if (!existsSync(repository) || signal.aborted) return undefined;
  const argv = ['git', `--git-dir=${repository}`, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}'];
  const end = await runCommand({ argv, cwd: root, env: env(), groups, signal, timeoutMs: TIMEOUT_MS }).catch(() => undefined);
  const commit = end?.stdout.text.trim() ?? '';
  return end?.exitCode === 0 && /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined;
}
