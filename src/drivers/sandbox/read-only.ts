/**
 * /workspace of a sandbox that runs, made read-only and writable again from outside: programs inside have no right to change a mount. Only root can
 * do it. The kernel refuses while a file is open for writing, so that nobody writes any more once it has worked.
 */
import { AgentisoError, ConflictError } from '#lib/errors.ts';
import { execute } from '#lib/execute.ts';
import { TOOL_PATH } from './args.ts';

/** All flags are given anew by a remount: what bubblewrap has set stays. */
const FLAGS = ['remount', 'bind', 'nosuid', 'nodev'];
/** Of mount(8). */
const MOUNT_FAILED = 32;

/** `pid`: of any process inside. */
export async function setReadOnly(pid: number, isReadOnly: boolean): Promise<void> {
  const options = [...FLAGS, isReadOnly ? 'ro' : 'rw'].join(',');
  try {
    await execute('mount', ['-N', `/proc/${pid}/ns/mnt`, '-o', options, '/workspace'], { env: { PATH: TOOL_PATH, LC_ALL: 'C' } });
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    if (code === MOUNT_FAILED && /busy/i.test(stderr)) throw new ConflictError('a file of the workspace is open for writing');
    throw new AgentisoError('IoError', `the workspace cannot be remounted: ${stderr.trim() || String(code)}`, { cause: error });
  }
}
