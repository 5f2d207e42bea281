/** Small real repositories for tests, made with plain git. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export class TestRepository {
  readonly directory: string;
  #clock = 1_700_000_000;

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), 'agentiso-git-'));
    this.git('init', '-q', '-b', 'main');
  }

  get gitDirectory(): string {
    return join(this.directory, '.git');
  }

  git(...args: string[]): string {
    return this.run(args).trim();
  }

  /** Also what ends badly: a merge with conflicts. */
  tryGit(...args: string[]): boolean {
    try {
      this.run(args);
      return true;
    } catch {
      return false;
    }
  }

  run(args: readonly string[]): string {
    this.#clock += 1;
    const date = `${this.#clock} +0000`;
    return execFileSync('git', ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', '-c', 'core.hooksPath=/dev/null', ...args], {
      cwd: this.directory,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
    });
  }

  write(files: Readonly<Record<string, string | Buffer | null>>): void {
    for (const [path, content] of Object.entries(files)) {
      const full = join(this.directory, path);
      if (content === null) rmSync(full);
      else {
        mkdirSync(dirname(full), { recursive: true });
        writeFileSync(full, content);
      }
    }
  }

  commit(message: string, files: Readonly<Record<string, string | Buffer | null>> = {}): string {
    this.write(files);
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', message);
    return this.head();
  }

  /** A new branch from there, checked out. */
  branch(name: string, from = 'main'): void {
    this.git('checkout', '-q', '-B', name, from);
  }

  head(name = 'HEAD'): string {
    return this.git('rev-parse', name);
  }

  tree(name: string): string {
    return this.git('rev-parse', `${name}^{tree}`);
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export function lines(count: number, change: Readonly<Record<number, string>> = {}): string {
  return Array.from({ length: count }, (_, index) => `${change[index + 1] ?? `line ${index + 1}`}\n`).join('');
}
