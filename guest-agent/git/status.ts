/** What one look at a repository tells: most of the time that everything is committed. */
import { git, type Repository } from './git.ts';

export interface Status {
  readonly head?: string;
  /** Absent when the head is detached. */
  readonly branch?: string;
  readonly hasStashes: boolean;
  /** By path; of a rename both. */
  readonly uncommittedFiles: readonly string[];
}

/** How many words stand before the path, by the first one. */
const WORDS: Readonly<Record<string, number>> = { '1': 8, '2': 9, u: 10, '?': 1 };

export async function readStatus(repository: Repository): Promise<Status> {
  const args = ['--porcelain=v2', '-z', '--branch', '--show-stash', '--untracked-files=all', '--no-renames', '--ignore-submodules=none'];
  return parseStatus(await git(repository, ['status', ...args]));
}

/** Pure. */
export function parseStatus(text: string): Status {
  const lines = text.split('\0').filter(Boolean);
  const said = (name: string) => lines.find((line) => line.startsWith(`# ${name} `))?.slice(name.length + 3);
  const head = said('branch.oid');
  const branch = said('branch.head');
  return {
    ...(head !== undefined && head !== '(initial)' && { head }),
    ...(branch !== undefined && branch !== '(detached)' && { branch }),
    hasStashes: said('stash') !== undefined,
    uncommittedFiles: lines.filter((line) => !line.startsWith('# ')).map(pathIn),
  };
}

function pathIn(line: string): string {
  return line
    .split(' ')
    .slice(WORDS[line[0] ?? ''] ?? 1)
    .join(' ');
}
