/** Commits on their way out. */
import { randomUUID } from 'node:crypto';
import { PassThrough, type Readable } from 'node:stream';
import { GitError, type GitOptions, git, spawnGit } from './run.ts';

/** Below it lies what a bundle holds. */
export const OUTGOING = 'refs/agentiso/outgoing';

export function bundleOf(commit: string, have: readonly string[], options: GitOptions): Readable {
  const out = new PassThrough();
  write(commit, have, out, options).catch((error: unknown) => out.destroy(error instanceof Error ? error : new Error(String(error))));
  return out;
}

async function write(commit: string, have: readonly string[], out: PassThrough, options: GitOptions): Promise<void> {
  const lacking = await git(['rev-list', '--max-count=1', commit, '--not', ...have], options);
  if (lacking.trim() === '') {
    out.end();
    return;
  }
  const args = ['bundle', 'create', '--quiet', '-', '--stdin'];
  // A bundle carries refs: one that exists for this moment only, under a name that nobody else uses.
  const ref = `${OUTGOING}/${randomUUID()}`;
  // Whoever wanted it may be gone: a git that moves refs is let finish all the same, or its locks would stay.
  const { signal: _given, ...unhurried } = options;
  await git(['update-ref', ref, commit], unhurried);
  try {
    const child = spawnGit(args, options);
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += String(chunk);
    });
    const closed = new Promise<number | null>((resolve, reject) => child.once('close', resolve).once('error', reject));
    // A git that ends before it has read everything says why by its exit code.
    child.stdin?.on('error', () => undefined).end([ref, ...have.map((id) => `^${id}`), ''].join('\n'));
    child.stdout?.pipe(out, { end: false });
    const code = (await closed) ?? -1;
    if (code !== 0) throw new GitError(args, { code, stderr, stdout: Buffer.alloc(0) });
  } finally {
    await git(['update-ref', '-d', ref], unhurried);
  }
  out.end();
}
