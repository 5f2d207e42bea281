/**
 * The commit that the repository of a workspace has checked out, read without git: it is looked at with every sign of life. The files are an
 * agent's, so that nothing here follows a link, waits for a pipe or reads without a limit.
 */
import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const MAX_REF_BYTES = 4_096;
/** Some ten thousand refs; where there are more, git is asked often enough by others. */
const MAX_PACKED_BYTES = 1024 * 1024;

/** Undefined: no repository here, nothing committed yet, or refs that are kept in another way. */
export function headOf(directory: string): string | undefined {
  const gitDir = join(directory, '.git');
  // Most workspaces have none, and an error that is thrown costs more than this look.
  if (!existsSync(gitDir)) return undefined;
  const head = read(join(gitDir, 'HEAD'), MAX_REF_BYTES)?.trim() ?? '';
  if (COMMIT.test(head)) return head;
  const ref = /^ref: (refs\/\S+)$/.exec(head)?.[1];
  if (ref === undefined || ref.split('/').includes('..')) return undefined;
  const loose = read(join(gitDir, ref), MAX_REF_BYTES)?.trim() ?? '';
  return COMMIT.test(loose) ? loose : packed(gitDir, ref);
}

function packed(gitDir: string, ref: string): string | undefined {
  const lines = read(join(gitDir, 'packed-refs'), MAX_PACKED_BYTES)?.split('\n') ?? [];
  const commit = lines.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0] ?? '';
  return COMMIT.test(commit) ? commit : undefined;
}

function read(path: string, maxBytes: number): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
