/** The mark of a workspace that is held still, in its folder. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspacePaths } from './paths.ts';

export function markIn({ directory }: Pick<WorkspacePaths, 'directory'>): string {
  return join(directory, 'suspended');
}

export function isMarked(paths: Pick<WorkspacePaths, 'directory'>): boolean {
  return existsSync(markIn(paths));
}
