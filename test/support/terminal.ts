/** Runs the built program on a terminal of its own, as `script` of util-linux makes one. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';

const program = join(import.meta.dirname, '..', '..', 'dist', 'agentiso.js');

export const hasTerminals = spawnSync('script', ['-qec', 'true', '/dev/null'], { timeout: 5_000 }).status === 0;

export interface TerminalRun {
  /** Everything the terminal was told so far, escapes included. */
  readonly text: () => string;
  said(text: string): Promise<void>;
  /** As if typed: `\u0003` is Ctrl-C. */
  type(keys: string): void;
  readonly code: Promise<number | null>;
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly columns?: number;
}

export function startOnTerminal(args: readonly string[], { cwd, env = {}, columns = 80 }: TerminalOptions): TerminalRun {
  const command = `stty cols ${columns} rows 24; exec ${[process.execPath, program, ...args].map((word) => `'${word}'`).join(' ')}`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd,
    env: { ...process.env, TERM: 'xterm', NO_COLOR: '', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (const listener of listeners) listener();
  });
  const code = new Promise<number | null>((resolve) => child.on('close', resolve));
  const said = (wanted: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (text.includes(wanted)) resolve();
      };
      listeners.add(look);
      look();
      void code.then((ended) => reject(new Error(`ended with ${ended} before saying ${JSON.stringify(wanted)}:\n${text}`)));
    });
  return { text: () => text, said, type: (keys) => void child.stdin.write(keys), code };
}
