/** What the file system refuses, as one line for people instead of a stack. */
import { AgentisoError } from '#lib/errors.ts';

const HINTS: Readonly<Record<string, string>> = {
  EACCES: 'use it as the user it belongs to, or set AGENTISO_IMAGES to a directory of your own',
  EPERM: 'use it as the user it belongs to, or set AGENTISO_IMAGES to a directory of your own',
  EROFS: 'set AGENTISO_IMAGES to a directory that can be written to',
  ENOSPC: 'agentiso image prune makes room; AGENTISO_IMAGES may be on a larger disk',
  EDQUOT: 'agentiso image prune makes room; AGENTISO_IMAGES may be on a larger disk',
};

export async function explainingDisk<T>(directory: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const hint = HINTS[(error as NodeJS.ErrnoException).code ?? ''];
    if (hint === undefined || error instanceof AgentisoError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new AgentisoError('IoError', `the images directory ${directory} cannot be written to: ${message}`, { hint, cause: error });
  }
}
