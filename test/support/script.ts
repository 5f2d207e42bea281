/** Runs a TypeScript file as its own process, with what it prints as lines. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

export interface Script {
  readonly child: ChildProcess;
  /** Every whole line of stdout so far. A line that a kill cut short is not among them. */
  readonly lines: string[];
  /** Resolves with the line that fits; rejects when the process ends without it. */
  line(fits: (line: string) => boolean, what: string): Promise<string>;
  /** Hears every line, also those already there. */
  onLine(listener: (line: string) => void): void;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null; readonly stderr: string }>;
}

const ROOT = join(import.meta.dirname, '..', '..');
const TSX = import.meta.resolve('tsx');
const MODULES = join(ROOT, 'node_modules');
/** Below node_modules, from where it finds packages. */
const BUNDLES = join(MODULES, '.cache', 'agentiso', 'scripts');
/** By path of the program: made once by each process that starts it, so none is older than its sources. */
const bundles = new Map<string, string>();

/** The command line for a script, for those who start it through another program. `name`: of a file of test/support, or its path. */
export function scriptCommand(name: string, args: readonly string[]): readonly [string, ...string[]] {
  const program = resolve(import.meta.dirname, name);
  if (!isOurs()) return [process.execPath, '--import', TSX, program, ...args];
  return [process.execPath, '--enable-source-maps', bundleOf(program), ...args];
}

/** Tests start themselves as another user too, who may write nothing here. */
function isOurs(): boolean {
  return statSync(MODULES).uid === process.getuid?.();
}

function bundleOf(program: string): string {
  const known = bundles.get(program);
  if (known !== undefined) return known;
  const bundle = join(BUNDLES, relative(ROOT, program).replaceAll('/', '-').replace(/\.ts$/, '.mjs'));
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'bundle-script.mjs'), program, bundle]);
  bundles.set(program, bundle);
  return bundle;
}

export function startScript(name: string, args: readonly string[], wrap: readonly string[] = []): Script {
  const [command = '', ...rest] = [...wrap, ...scriptCommand(name, args)];
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const listeners = new Set<(line: string) => void>();
  let stderr = '';
  let out = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (out + chunk).split('\n');
    out = parts.pop() ?? '';
    for (const line of parts) {
      lines.push(line);
      for (const listener of listeners) listener(line);
    }
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stderr }));
  });
  const onLine = (listener: (line: string) => void) => {
    lines.forEach(listener);
    listeners.add(listener);
  };
  const line = (fits: (line: string) => boolean, what: string) =>
    new Promise<string>((resolve, reject) => {
      onLine((text) => {
        if (fits(text)) resolve(text);
      });
      void ended.then(({ code, signal }) => reject(new Error(`${name} ended (${code ?? signal}) before ${what}\n${stderr}`)));
    });
  return { child, lines, line, onLine, ended };
}
