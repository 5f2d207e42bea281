/**
 * What a daemon does until it is ready and at its first requests, done once in a home that is thrown away, so that the code which V8 compiles
 * for it can be kept. Nothing it is asked takes effect. Where it cannot be done, less is compiled.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const LIMIT_MS = 60_000;

/** `compiler` are the arguments of a Node that runs the program and keeps what was compiled (warm-up.cjs). */
export async function rehearseDaemon(compiler, manifest) {
  const home = mkdtempSync(join(tmpdir(), 'agentiso-build-'));
  const env = { PATH: process.env.PATH, HOME: home };
  const compile = (args) => run([...compiler, ...args], env);
  const [, program] = compiler;
  const ask = (args) => run([join(import.meta.dirname, 'warm-up.cjs'), program, join(home, 'cache'), ...args, '--home', home], env);
  try {
    await compile(['validate', '-f', manifest]);
    const daemon = spawn(process.execPath, [...compiler, 'serve', '--home', home], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(daemon, 'exit');
    const limit = setTimeout(() => daemon.kill('SIGKILL'), LIMIT_MS);
    await Promise.race([once(daemon.stdout, 'data'), ended]);
    await ask(['apply', '--server-side', '--dry-run=server', '-f', manifest]);
    daemon.kill('SIGTERM');
    await ended;
    clearTimeout(limit);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function run(args, env) {
  return promisify(execFile)(process.execPath, args, { env, timeout: LIMIT_MS }).catch(() => {});
}
