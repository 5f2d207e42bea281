/** The built program as on a machine that lacks a tool: in a mount namespace of its own, where the tool is whited out. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CliResult, CliRun } from './cli.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'agentiso.js');

const HIDE = `set -e
tool=$1; layers=$2; shift 2
mount -t tmpfs none "$layers"
mkdir "$layers/upper" "$layers/work"
mknod "$layers/upper/$(basename "$tool")" c 0 0
mount -t overlay none -o "lowerdir=$(dirname "$tool"),upperdir=$layers/upper,workdir=$layers/work" "$(dirname "$tool")"
exec "$@"`;

/** `folder` takes the mount point, in that namespace only. */
export function startWithout(tool: string, args: readonly string[], folder: string): CliRun {
  const { stdout: path } = spawnSync('sh', ['-c', `readlink -f "$(command -v ${tool})"`], { encoding: 'utf8' });
  const layers = mkdtempSync(join(folder, 'layers-'));
  const inner = [path.trim(), layers, process.execPath, PROGRAM, ...args];
  const child = spawn('unshare', ['--mount', '--', 'sh', '-c', HIDE, 'sh', ...inner], {
    cwd: dirname(layers),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return followed(child);
}

function followed(child: ChildProcess): CliRun {
  const output = { stdout: '', stderr: '' };
  const heard = new EventTarget();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk;
      heard.dispatchEvent(new Event('output'));
    });
  }
  const result = new Promise<CliResult>((resolve) => child.on('close', (code) => resolve({ code, ...output })));
  const said = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => (output.stdout + output.stderr).includes(text) && resolve();
      heard.addEventListener('output', look);
      look();
      void result.then(({ code }) => reject(new Error(`ended with ${code} before saying ${text}: ${output.stderr}`)));
    });
  return { child, result, said };
}
