/** Processes of this machine that belong to a test: found by what they carry, and ended only then. */
import { readdirSync, readFileSync } from 'node:fs';

/** Any of the texts. */
export function processesMentioning(...texts: readonly string[]): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => ['cmdline', 'environ'].some((file) => mentions(read(`/proc/${pid}/${file}`), texts)));
}

function mentions(words: string, texts: readonly string[]): boolean {
  return texts.some((text) => words.includes(text));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It ended while we looked, or belongs to somebody else.
    return '';
  }
}

/** Only what carries the text on its command line: nothing else is ever killed from a test. */
export function isProcessOf(pid: number, text: string): boolean {
  return read(`/proc/${pid}/cmdline`).includes(text);
}

/** The last of the first children. */
export function deepestChild(pid: number): number | undefined {
  let last: number | undefined;
  for (let at: number | undefined = pid; at !== undefined; ) {
    const child: number | undefined = childrenOf(at)[0];
    if (child !== undefined) last = child;
    at = child;
  }
  return last;
}

function childrenOf(pid: number): number[] {
  return read(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number);
}

export function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was faster.
  }
}
