/** Runs a program for a look at it: never longer than a few seconds, with nothing on its standard input. */
import { spawn } from 'node:child_process';

export interface ProgramResult {
  /** `absent`: there is no such program. */
  readonly outcome: 'exited' | 'absent' | 'late' | 'failed';
  readonly code: number | null;
  readonly stdout: string;
  /** The last line of what it complained about. */
  readonly complaint: string;
}

export interface ProgramOptions {
  readonly timeoutMs?: number;
  /** Runs as this user and group instead; for root only. */
  readonly id?: number;
}

const TIMEOUT_MS = 4_000;
const MAX_OUTPUT = 64 * 1024;
/** Not on the path of ordinary users, though they may run what is there. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin', '/usr/local/sbin'];

/** A folder of the path that may not be looked into makes it EACCES. */
const ABSENT: readonly string[] = ['ENOENT', 'EACCES', 'ENOTDIR'];

export async function runProgram(program: string, args: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
  for (const path of [program, ...(program.includes('/') ? [] : SYSTEM_FOLDERS.map((folder) => `${folder}/${program}`))]) {
    const result = await runOnce(path, args, options);
    if (result.outcome !== 'absent') return result;
  }
  return { outcome: 'absent', code: null, stdout: '', complaint: `${program} is not installed` };
}

function runOnce(path: string, args: readonly string[], { timeoutMs = TIMEOUT_MS, id }: ProgramOptions): Promise<ProgramResult> {
  return new Promise((resolve) => {
    // A group of its own, so that what it started ends with it.
    const child = spawn(path, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      ...(id === undefined ? {} : { uid: id, gid: id, cwd: '/' }),
    });
    let [stdout, stderr, isLate] = ['', '', false];
    const timer = setTimeout(() => {
      isLate = true;
      endGroup(child.pid);
    }, timeoutMs);
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout = (stdout + chunk).slice(0, MAX_OUTPUT);
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr = (stderr + chunk).slice(-MAX_OUTPUT);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      resolve({ outcome: ABSENT.includes(error.code ?? '') ? 'absent' : 'failed', code: null, stdout: '', complaint: error.message });
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      const complaint = isLate ? `no answer within ${timeoutMs / 1_000} s` : lastLine(stderr) || `exit code ${code}`;
      resolve({ outcome: isLate ? 'late' : 'exited', code, stdout, complaint });
    });
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
