/** Repositories that teams work on, and what was kept of their agents, seen with plain git. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const AS_ANN = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', '-c', 'safe.directory=*'];

export function gitIn(directory: string, ...args: readonly string[]): string {
  return execFileSync('git', [...AS_ANN, '-C', directory, ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

/** A repository with one commit on main; its id. */
export function makeSource(directory: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(directory, { recursive: true });
  gitIn(directory, 'init', '-q', '-b', 'main');
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  gitIn(directory, 'add', '-A');
  gitIn(directory, 'commit', '-q', '-m', 'first');
  return gitIn(directory, 'rev-parse', 'HEAD');
}

export interface RescuedFiles {
  /** Of the last state. */
  file(path: string): string;
  /** The contents of all files that the ref leads to. */
  all(): string[];
}

export function findRescued(repository: string, agentUid: string): RescuedFiles {
  const ref = `refs/agentiso/rescue/${agentUid}`;
  const run = (args: readonly string[], input?: string) =>
    execFileSync('git', [...AS_ANN, '-C', repository, ...args], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      ...(input !== undefined && { input }),
    });
  return {
    file: (path) => run(['show', `${ref}:${path}`]),
    all() {
      const listed = run(['rev-list', '--objects', '--filter=object:type=blob', '--filter-provided-objects', ref])
        .split('\n')
        .filter(Boolean);
      return listed.map((line) => run(['cat-file', 'blob', line.split(' ')[0] ?? '']));
    },
  };
}
