/** A repository with many files and branches, made by `git fast-import`: a process per commit would take minutes. */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

export interface Sizes {
  readonly files: number;
  readonly branches: number;
  readonly commits: number;
}

/** As durable as what it is compared with; nothing of the person who runs it. */
const SETTINGS = ['core.fsync=committed', 'user.name=bench', 'user.email=bench@localhost', 'gc.auto=0'].flatMap((each) => ['-c', each]);
const ENV = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', LC_ALL: 'C' };

export async function git(directory: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', [...SETTINGS, ...args], { cwd: directory, env: ENV, maxBuffer: 1 << 28 });
  return stdout.trim();
}

/** What git answers to a text. */
export function ask(directory: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile('git', [...SETTINGS, ...args], { cwd: directory, env: ENV, maxBuffer: 1 << 28 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
    child.stdin?.end(input);
  });
}

/** Branches `b0`, `b1`, … that touch files of their own, so that all fit together. */
export function importBranches(directory: string, { files, branches, commits }: Sizes): void {
  const write = (file: number, text: string) => `M 100644 inline src/${file % 50}/${file}.txt\ndata ${text.length}\n${text}\n`;
  const who = (time: number) => `bench <bench@localhost> ${1_700_000_000 + time} +0000`;
  let time = 0;
  const commit = (branch: string, from: string, changes: string) => {
    time += 1;
    return `commit refs/heads/${branch}\nauthor ${who(time)}\ncommitter ${who(time)}\ndata 4\nstep\n${from}${changes}\n`;
  };
  const text = (file: number, change: string) => `file ${file}\n${'line\n'.repeat(20)}${change}`;
  const parts = [commit('main', '', Array.from({ length: files }, (_, file) => write(file, text(file, ''))).join(''))];
  for (let branch = 0; branch < branches; branch += 1) {
    for (let step = 0; step < commits; step += 1) {
      const file = (branch * commits + step) % files;
      parts.push(commit(`b${branch}`, step === 0 ? 'from refs/heads/main\n' : '', write(file, text(file, `${branch}\n`))));
    }
  }
  // The target has gone on: nothing can simply move forward.
  parts.push(commit('main', '', write(files, text(files, 'main\n'))));
  execFileSync('git', ['fast-import', '--quiet'], { cwd: directory, input: parts.join(''), env: ENV });
}
