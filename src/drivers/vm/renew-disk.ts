/**
 * The disk of a workspace also holds the memory of its guest: what it was told, what it has begun. A copy that becomes the disk of another run
 * begins without it; the host knows everything that counts. The folder is given another name: to remove it file by file would take a mount.
 */
import { AgentisoError } from '#lib/errors.ts';
import { execute } from '#lib/execute.ts';
import { isPresent } from '../local/directories.ts';
import { TOOL_PATH } from '../sandbox/args.ts';

const env = { PATH: TOOL_PATH };
/** e2fsck has mended what it found. */
const MENDED = 1;

export async function renewDisk(path: string): Promise<void> {
  if (!(await isPresent(path))) return;
  // The journal of a machine that ran comes first.
  await execute('e2fsck', ['-p', path], { env }).catch(unlessMended);
  const before = `state-${Date.now()}`;
  const steps = [`ln state ${before}`, 'unlink state', 'mkdir state'];
  for (const step of steps) await execute('debugfs', ['-w', '-R', step, path], { env });
}

function unlessMended(error: { readonly code?: unknown; readonly stderr?: string; readonly message: string }): void {
  if (error.code === MENDED) return;
  throw new AgentisoError('IoError', `the copied disk cannot be checked: ${error.stderr?.trim() || error.message}`, {
    reason: 'DiskFailed',
  });
}
